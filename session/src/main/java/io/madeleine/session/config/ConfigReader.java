package io.madeleine.session.config;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigException;
import com.typesafe.config.ConfigList;
import com.typesafe.config.ConfigRenderOptions;
import com.typesafe.config.ConfigValue;
import com.typesafe.config.ConfigValueType;
import io.madeleine.api.ConfigurationException;
import io.madeleine.pmm.spi.Suggestions;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Reads values of a configuration. A wrong value becomes a {@link ConfigurationException} that names the key, the place
 * where it is set, and the accepted values.
 *
 * <p>Threading: immutable.
 *
 * @param config the whole, resolved configuration
 */
public record ConfigReader(Config config) {
    /** The value that leaves the choice to Madeleine. */
    public static final String AUTO = "auto";

    private static final Pattern NUMBER = Pattern.compile("\\s*[-+]?[0-9.]+\\s*");
    private static final List<String> UNITS = List.of("ns", "us", "ms", "s");

    /** A text. */
    String text(String path) {
        return read(path, "a text", () -> config.getString(path));
    }

    /** A name: 1 to 64 letters, digits, dots, dashes and underscores. */
    String name(String path) {
        String name = text(path);
        if (!name.matches("[A-Za-z0-9._-]{1,64}")) {
            throw wrong(path, "a name of 1 to 64 letters, digits, dots, dashes and underscores");
        }
        return name;
    }

    /** A truth value. */
    boolean flag(String path) {
        return read(path, "true or false", () -> config.getBoolean(path));
    }

    /** A whole number within bounds. */
    int number(String path, int minimum, int maximum) {
        String expected = "a whole number from " + minimum + " to " + maximum;
        int number = read(path, expected, () -> whole(path));
        if (number < minimum || number > maximum) {
            throw wrong(path, expected);
        }
        return number;
    }

    /** Refuses a fraction, which the configuration library would silently drop. */
    private int whole(String path) {
        String written = config.getString(path).strip();
        try {
            return Integer.parseInt(written);
        } catch (NumberFormatException _) {
            return new BigDecimal(written).intValueExact(); // such as 4e3; the class takes 10 ms to initialize
        }
    }

    /** A whole number within bounds, or {@code automatic} for the value "auto". */
    int numberOrAuto(String path, int minimum, int maximum, int automatic) {
        if (text(path).equals(AUTO)) {
            return automatic;
        }
        String expected = "auto or a whole number from " + minimum + " to " + maximum;
        int number = read(path, expected, () -> whole(path));
        if (number < minimum || number > maximum) {
            throw wrong(path, expected);
        }
        return number;
    }

    /** A duration with its unit, of at least {@code minimumNs}. */
    long durationNs(String path, long minimumNs) {
        String expected = "a duration with its unit, such as 50us, 200ms or 30s, of "
                + (minimumNs == 0 ? "0 or more" : duration(minimumNs) + " or more");
        long ns = read(path, expected, () -> config.getDuration(path).toNanos());
        // without a unit the configuration library would silently read milliseconds
        if (ns < minimumNs || (ns != 0 && isNumber(path))) {
            throw wrong(path, expected);
        }
        return ns;
    }

    private boolean isNumber(String path) {
        ConfigValue value = config.getValue(path);
        return value.valueType() == ConfigValueType.NUMBER
                || NUMBER.matcher(value.unwrapped().toString()).matches();
    }

    /** Formats a duration in the largest unit that needs no fraction: "100ms". */
    static String duration(long ns) {
        long number = ns;
        int unit = 0;
        while (unit < UNITS.size() - 1 && number % 1000 == 0) {
            number /= 1000;
            unit++;
        }
        return number + UNITS.get(unit);
    }

    /** One of the constants of an enum, in lower case. */
    <E extends Enum<E>> E choice(String path, Class<E> type) {
        String written = text(path);
        List<String> accepted = Stream.of(type.getEnumConstants())
                .map(constant -> constant.name().toLowerCase(Locale.ROOT))
                .toList();
        int index = accepted.indexOf(written.toLowerCase(Locale.ROOT));
        if (index < 0) {
            throw wrong(path, Suggestions.anyOf(accepted) + Suggestions.didYouMean(written, accepted));
        }
        return type.getEnumConstants()[index];
    }

    /** A list of texts. Also accepts one text with commas. */
    List<String> texts(String path) {
        if (config.hasPath(path) && config.getValue(path).valueType() == ConfigValueType.STRING) {
            return Arrays.stream(config.getString(path).split(","))
                    .map(String::strip)
                    .filter(entry -> !entry.isEmpty())
                    .toList();
        }
        ConfigList list = read(path, "a list of texts, [a, b]", () -> config.getList(path));
        List<String> texts = new ArrayList<>();
        for (ConfigValue value : list) {
            if (value.valueType() != ConfigValueType.STRING) {
                throw wrong(path, "a list of texts, [a, b]");
            }
            texts.add((String) value.unwrapped());
        }
        return texts;
    }

    /** The place that sets the value, such as "conf/x.conf: 12". */
    String origin(String path) {
        return config.hasPathOrNull(path) ? config.getValue(path).origin().description() : "not set";
    }

    /** The exception for a wrong value, with key, value, place and accepted values. Hides the value of a secret. */
    public ConfigurationException wrong(String path, String expected) {
        String value = path.endsWith("secret")
                ? "(hidden)"
                : config.hasPath(path) ? config.getValue(path).render(ConfigRenderOptions.concise()) : "null";
        return new ConfigurationException(path + " = " + value + " (" + origin(path) + "): expected " + expected);
    }

    private <T> T read(String path, String expected, Supplier<T> reading) {
        try {
            return reading.get();
        } catch (ConfigException.Missing _) {
            throw new ConfigurationException(path + " is missing: expected " + expected);
        } catch (ConfigException | ArithmeticException | NumberFormatException _) {
            throw config.hasPathOrNull(path)
                    ? wrong(path, expected)
                    : new ConfigurationException(path + " is missing: expected " + expected);
        }
    }
}
