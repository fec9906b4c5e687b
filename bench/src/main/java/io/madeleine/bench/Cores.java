package io.madeleine.bench;

import io.madeleine.bench.measure.Pinning;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Two processors and what they share, on which the speed of memory that both touch depends.
 *
 * <p>Threading: immutable.
 *
 * @param first the processor of rank 0
 * @param second the processor of rank 1
 * @param relation what they share, as text
 */
record Cores(int first, int second, String relation) {
    private static final Path SYSTEM = Path.of("/sys/devices/system/cpu");
    private static final int LARGEST_LEVEL = 4;

    /** One pair for each relation that the first processor has to another; empty if the topology is unknown. */
    static List<Cores> pairs(List<Integer> processors) {
        return pairs(processors, SYSTEM);
    }

    static List<Cores> pairs(List<Integer> processors, Path system) {
        Map<String, Cores> byRelation = new LinkedHashMap<>();
        for (int i = 1; i < processors.size(); i++) {
            int first = processors.getFirst();
            int second = processors.get(i);
            String relation = relation(first, second, system);
            byRelation.putIfAbsent(relation, new Cores(first, second, relation));
        }
        return List.copyOf(byRelation.values());
    }

    private static String relation(int first, int second, Path system) {
        Path cpu = system.resolve("cpu" + first);
        if (lists(cpu.resolve("topology/thread_siblings_list"), second)) {
            return "threads of one core";
        }
        boolean known = false;
        for (int level = 1; level <= LARGEST_LEVEL; level++) {
            for (int index = 0; Files.isDirectory(cpu.resolve("cache/index" + index)); index++) {
                Path cache = cpu.resolve("cache/index" + index);
                known = true;
                if (text(cache.resolve("level")).equals(Integer.toString(level))
                        && lists(cache.resolve("shared_cpu_list"), second)) {
                    return "shared L" + level;
                }
            }
        }
        return known ? "no shared cache" : "caches unknown";
    }

    private static boolean lists(Path file, int processor) {
        String ranges = text(file);
        return !ranges.isEmpty() && Pinning.parse(ranges).contains(processor);
    }

    private static String text(Path file) {
        try {
            return Files.readString(file).strip();
        } catch (IOException _) {
            return "";
        }
    }

    /** The processors as {@link Pinning} takes them. */
    String processors() {
        return first + "," + second;
    }
}
