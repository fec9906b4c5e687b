package io.madeleine.bench.report;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigValue;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Where and how rows were measured: the row of kind {@code machine}.
 *
 * <p>Threading: immutable.
 *
 * @param facts key and value as they stand in the row, in its order, without the selection
 * @param selection by protocol, what the selection table says
 */
public record Machine(Map<String, String> facts, Map<String, List<String>> selection) {
    /** What is known if there is no such row. */
    static final Machine UNKNOWN = new Machine(Map.of(), Map.of());

    /** The keys that are known, in the order in which people read them, with their names. */
    private static final Map<String, String> KNOWN = new LinkedHashMap<>();

    static {
        KNOWN.put("cpu", "Processor");
        KNOWN.put("cores", "Cores");
        KNOWN.put("kernel", "Kernel");
        KNOWN.put("java", "Java");
        KNOWN.put("madeleine", "Madeleine");
        KNOWN.put("wait", "Waiting");
        KNOWN.put("pinned", "Pinned");
        KNOWN.put("rounds", "Rounds");
        KNOWN.put("seconds", "Seconds per row");
        KNOWN.put("settings", "Settings");
        KNOWN.put("calibrationSpread", "Calibration spread");
        KNOWN.put("noisy", "Noisy");
    }

    static Machine of(Config row) {
        Map<String, String> facts = new LinkedHashMap<>();
        KNOWN.keySet().stream().filter(row::hasPath).forEach(key -> facts.put(key, row.getString(key)));
        row.root().forEach((key, value) -> {
            boolean plain = value.unwrapped() instanceof String || value.unwrapped() instanceof Number;
            if (plain && !key.equals("kind")) {
                facts.putIfAbsent(key, value.unwrapped().toString());
            }
        });
        Map<String, List<String>> selection = new TreeMap<>();
        if (row.hasPath("selection")) {
            row.getObject("selection").forEach((name, lines) -> selection.put(name, lines(lines)));
        }
        return new Machine(facts, selection);
    }

    private static List<String> lines(ConfigValue value) {
        List<String> lines = new ArrayList<>();
        if (value.unwrapped() instanceof List<?> several) {
            several.forEach(line -> lines.add(line.toString()));
        } else {
            lines.add(value.unwrapped().toString());
        }
        return lines;
    }

    /** The value of a key; empty if unknown. */
    public String fact(String key) {
        return facts.getOrDefault(key, "");
    }

    /** A key as people read it. */
    public static String title(String key) {
        return KNOWN.getOrDefault(key, key);
    }

    boolean noisy() {
        return fact("noisy").equals("true");
    }
}
