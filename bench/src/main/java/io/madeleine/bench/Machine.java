package io.madeleine.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Where and how the rows were measured.
 *
 * <p>Threading: immutable.
 *
 * @param waiting how the processes waited
 * @param pinned whether each process had a processor of its own
 * @param rounds how many rounds
 * @param seconds how long a row took
 * @param settings the settings that were given; empty without any
 * @param calibration how quiet the machine was
 * @param selection by network, which transmission module takes which block
 */
record Machine(
        String waiting,
        boolean pinned,
        int rounds,
        double seconds,
        String settings,
        Noise calibration,
        Map<String, List<String>> selection) {
    private static final Path CPU = Path.of("/proc/cpuinfo");

    /**
     * How quiet the machine was.
     *
     * @param spread the difference of the calibrations, as a fraction
     * @param rounds the noisy rounds, counted from 1
     * @param most whether most rounds were noisy
     */
    record Noise(double spread, List<Integer> rounds, boolean most) {}

    /** One JSON object on one line. */
    String json() {
        return new Json()
                .text("kind", "machine")
                .text("cpu", cpu())
                .whole("cores", Runtime.getRuntime().availableProcessors())
                .text("kernel", System.getProperty("os.name") + " " + System.getProperty("os.version"))
                .text("java", Runtime.version().toString())
                .text("madeleine", madeleine())
                .text("wait", waiting)
                .truth("pinned", pinned)
                .whole("rounds", rounds)
                .number("seconds", seconds)
                .text("settings", settings)
                .number("calibrationSpread", calibration.spread())
                .truth("noisy", calibration.most())
                .numbers(
                        "noisyRounds",
                        calibration.rounds().stream().map(Integer::doubleValue).toList())
                .texts("selection", selection)
                .line();
    }

    private static String madeleine() {
        return Optional.ofNullable(Machine.class.getPackage().getImplementationVersion())
                .orElse("unreleased");
    }

    /** The model name of the processor. */
    static String cpu() {
        try (Stream<String> lines = Files.lines(CPU)) {
            return lines.filter(line -> line.startsWith("model name"))
                    .map(line -> line.substring(line.indexOf(':') + 1).strip())
                    .findFirst()
                    .orElse(System.getProperty("os.arch"));
        } catch (IOException _) {
            return System.getProperty("os.arch");
        }
    }
}
