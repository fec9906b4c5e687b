package io.madeleine.pmm.spi;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigException;
import com.typesafe.config.ConfigUtil;
import com.typesafe.config.ConfigValue;
import io.madeleine.api.ConfigurationException;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.regex.Pattern;

/**
 * Reads one object of the configuration, such as that of a network family. An error becomes a {@link
 * ConfigurationException} that names the key, the value, its place in the configuration, and what is accepted.
 *
 * <p>Threading: immutable.
 *
 * @param root the whole, resolved configuration
 * @param path the path of the object in it
 */
public record ConfigReader(Config root, String path) {
    private static final String PEER_TIMEOUT = "madeleine.peer-timeout";
    private static final Pattern NUMBER = Pattern.compile("\\s*[-+]?[0-9.]+\\s*");

    /** Returns a reader of the object under this key. */
    public ConfigReader at(String key) {
        ConfigReader inner = new ConfigReader(root, path + "." + quoted(key));
        inner.keys();
        return inner;
    }

    private static String quoted(String key) {
        return ConfigUtil.joinPath(key);
    }

    private String pathOf(String key, boolean isObject) {
        return isObject ? path : path + "." + quoted(key);
    }

    /** The keys that the object has. */
    public Set<String> keys() {
        try {
            return root.getObject(path).keySet();
        } catch (ConfigException e) {
            throw new ConfigurationException(path + " has to be an object: " + e.getMessage(), e);
        }
    }

    /** Throws if the object has a key that is not one of these. */
    public void onlyKeys(String... known) {
        for (String key : keys()) {
            if (!List.of(known).contains(key)) {
                throw new ConfigurationException("unknown key " + pathOf(key, false) + " (" + origin(key)
                        + "); known are " + String.join(", ", known) + Suggestions.didYouMean(key, List.of(known)));
            }
        }
    }

    /** Whether the key has a value. */
    public boolean has(String key) {
        return root.hasPath(pathOf(key, false));
    }

    /** Reads a boolean. */
    public boolean bool(String key) {
        return read(key, "true or false", () -> root.getBoolean(pathOf(key, false)));
    }

    /** Reads a string, without surrounding white space. */
    public String text(String key) {
        return read(key, "a text", () -> root.getString(pathOf(key, false))).strip();
    }

    /** Whether the key's value is this word. */
    public boolean is(String key, String word) {
        return has(key) && word.equals(root.getValue(pathOf(key, false)).unwrapped());
    }

    /** Reads one of several words, in lower case. */
    public String oneOf(String key, List<String> accepted) {
        String value = text(key).toLowerCase(Locale.ROOT);
        require(key, accepted.contains(value), "one of " + String.join(", ", accepted));
        return value;
    }

    /** Reads a whole number within bounds. */
    public int integer(String key, int least, int most) {
        String accepted = "a whole number from " + least + " to " + most;
        long value = read(key, accepted, () -> root.getLong(pathOf(key, false)));
        boolean whole = value == root.getDouble(pathOf(key, false)); // getLong truncates a fraction
        require(key, whole && value >= least && value <= most, accepted);
        return (int) value;
    }

    /** Reads a size in bytes within bounds. */
    public int bytes(String key, int least, int most) {
        String accepted = "a size from " + least + " B to " + most + " B, as in \"64 KiB\"";
        return (int) bytes(key, least, most, accepted);
    }

    /** Reads a size in bytes within bounds; {@code accepted} states the bounds for the error text. */
    public long bytes(String key, long least, long most, String accepted) {
        long value = read(key, accepted, () -> root.getBytes(pathOf(key, false)));
        require(key, value >= least && value <= most, accepted);
        return value;
    }

    /** Reads a duration in nanoseconds within bounds; {@code accepted} states the bounds for the error text. */
    public long durationNs(String key, long least, long most, String accepted) {
        long ns = read(key, accepted, () -> root.getDuration(pathOf(key, false), TimeUnit.NANOSECONDS));
        if (ns != 0 && NUMBER.matcher(found(key)).matches()) { // the library would take a bare number for milliseconds
            throw wrong(key, found(key) + " without a unit", accepted);
        }
        require(key, ns >= least && ns <= most, accepted);
        return ns;
    }

    /**
     * {@code madeleine.peer-timeout} in nanoseconds. The session's own configuration validates it; outside a session it
     * may be absent.
     */
    public long peerTimeoutNs() {
        return root.hasPath(PEER_TIMEOUT)
                ? root.getDuration(PEER_TIMEOUT, TimeUnit.NANOSECONDS)
                : TimeUnit.SECONDS.toNanos(30);
    }

    /** Throws unless the condition holds. */
    public void require(String key, boolean met, String accepted) {
        if (!met) {
            throw wrong(key, found(key), accepted);
        }
    }

    private <T> T read(String key, String accepted, Supplier<T> read) {
        try {
            return read.get();
        } catch (ConfigException.Missing e) {
            throw new ConfigurationException(
                    pathOf(key, false) + " is missing; is reference.conf of its module on the path? Accepted: "
                            + accepted,
                    e);
        } catch (ConfigException e) {
            throw wrong(key, found(key), accepted);
        }
    }

    private String found(String key) {
        return String.valueOf(root.getValue(pathOf(key, false)).unwrapped());
    }

    /** Returns the exception for a value that is not accepted; an empty key stands for the object itself. */
    public ConfigurationException wrong(String key, String found, String accepted) {
        return new ConfigurationException(
                pathOf(key, key.isEmpty()) + " is " + found + " (" + origin(key) + "); accepted is " + accepted);
    }

    private String origin(String key) {
        ConfigValue value =
                key.isEmpty() ? root.getObject(path) : root.getObject(path).get(key);
        return value == null ? "absent" : value.origin().description();
    }
}
