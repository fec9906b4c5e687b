package io.madeleine.session.config;

import com.typesafe.config.ConfigObject;
import com.typesafe.config.ConfigUtil;
import com.typesafe.config.ConfigValue;
import io.madeleine.api.ConfigurationException;
import io.madeleine.pmm.faults.DirectionFaults;
import io.madeleine.pmm.faults.Faults;
import io.madeleine.pmm.spi.Suggestions;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Reads {@code madeleine.faults}.
 *
 * <p>Threading: stateless.
 */
final class FaultSettings {
    static final String LINKS = "madeleine.faults.links";

    private static final Pattern DIRECTION = Pattern.compile("(any|[0-9]{1,6})-to-(any|[0-9]{1,6})");
    private static final List<String> KEYS = List.of("cut-after", "delay", "jitter", "stall-after", "stall-for");

    private FaultSettings() {}

    static Faults from(ConfigReader reader) {
        Map<Faults.Direction, DirectionFaults> directions = new HashMap<>();
        ConfigObject links = reader.config().getObject(LINKS);
        for (String name : new TreeSet<>(links.keySet())) {
            String path = LINKS + "." + ConfigUtil.joinPath(name);
            Matcher direction = DIRECTION.matcher(name);
            if (!direction.matches() || !(links.get(name) instanceof ConfigObject one)) {
                throw reader.wrong(path, "an object, {...}, with a name such as 0-to-1, any-to-2 or any-to-any: ranks");
            }
            one.forEach((key, value) -> checkKey(path, key, value));
            if (!direction.group(1).equals("any") && rank(direction.group(1)) == rank(direction.group(2))) {
                throw reader.wrong(path, "the ranks of two processes: none sends to itself over a network");
            }
            if (one.containsKey("stall-after") && !one.containsKey("stall-for")) {
                throw reader.wrong(path + ".stall-after", "stall-for beside it, which says for how long");
            }
            directions.put(
                    new Faults.Direction(rank(direction.group(1)), rank(direction.group(2))), faults(reader, path));
        }
        return new Faults(reader.number("madeleine.faults.seed", Integer.MIN_VALUE, Integer.MAX_VALUE), directions);
    }

    private static void checkKey(String path, String key, ConfigValue value) {
        if (!KEYS.contains(key)) {
            throw new ConfigurationException(
                    "unknown key " + path + "." + key + " (" + value.origin().description() + "): expected one of "
                            + String.join(", ", KEYS) + Suggestions.didYouMean(key, KEYS));
        }
    }

    private static int rank(String name) {
        return name.equals("any") ? Faults.Direction.ANY : Integer.parseInt(name);
    }

    private static DirectionFaults faults(ConfigReader reader, String path) {
        return new DirectionFaults(
                durationNs(reader, path + ".delay", 0),
                durationNs(reader, path + ".jitter", 0),
                durationNs(reader, path + ".stall-after", 0),
                durationNs(reader, path + ".stall-for", 0),
                durationNs(reader, path + ".cut-after", DirectionFaults.NEVER));
    }

    private static long durationNs(ConfigReader reader, String path, long absent) {
        return reader.config().hasPath(path) ? reader.durationNs(path, 0) : absent;
    }
}
