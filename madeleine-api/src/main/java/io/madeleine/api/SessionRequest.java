package io.madeleine.api;

import java.util.Map;
import java.util.Objects;
import java.util.Set;

/**
 * A session to be opened at run time, beside those that are open: its processes agree on a name, on their number and ranks,
 * and on where rank 0 listens. Nothing of it comes from {@code madeleine.session} of the configuration; networks, timeouts and
 * all else do.
 *
 * <p>Threading: immutable.
 *
 * @param name the session's name, the same in all its processes
 * @param size how many processes it has
 * @param rank this process's number, 0 to size - 1
 * @param address where rank 0 listens, {@code host:port}
 * @param secret what proves that a process may join; not empty
 * @param channels the channels that this session has, the same in all processes: configured as {@code madeleine.channels} says,
 *     or over the best network if that does not name them; if empty, all those of the configuration
 * @param settings settings by key, which count more than the configuration; none of what the request says itself
 */
public record SessionRequest(
        String name, int size, int rank, String address, String secret, Set<String> channels, Map<String, ?> settings) {
    /** Copies the collections and checks all that can be. */
    public SessionRequest {
        Objects.requireNonNull(name, "name");
        Objects.requireNonNull(address, "address");
        Objects.requireNonNull(secret, "secret");
        Objects.requireNonNull(channels, "channels");
        Objects.requireNonNull(settings, "settings");
        if (name.isBlank() || secret.isEmpty()) {
            throw new ConfigurationException(
                    "a session that is opened on request needs a name and a secret: expected \""
                            + (name.isBlank() ? "name" : "secret") + "\" not to be empty");
        }
        if (size < 1 || rank < 0 || rank >= size) {
            throw new ConfigurationException("session " + name + ": rank " + rank + " of " + size
                    + " processes: expected a rank from 0 to size-1");
        }
        channels = Set.copyOf(channels);
        settings = Map.copyOf(settings);
    }

    /** With the channels and all settings of the configuration. */
    public static SessionRequest of(String name, int size, int rank, String address, String secret) {
        return new SessionRequest(name, size, rank, address, secret, Set.of(), Map.of());
    }

    /** The same with these channels. */
    public SessionRequest withChannels(Set<String> names) {
        Objects.requireNonNull(names, "names");
        return new SessionRequest(name, size, rank, address, secret, names, settings);
    }

    /** The same with these settings, for instance {@code Map.of("channels.default.network", "sci")}. */
    public SessionRequest withSettings(Map<String, ?> values) {
        Objects.requireNonNull(values, "values");
        return new SessionRequest(name, size, rank, address, secret, channels, values);
    }

    /** Without the secret. */
    @Override
    public String toString() {
        return "session " + name + ", rank " + rank + " of " + size + ", at " + address;
    }
}
