package io.madeleine.stress;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Runs the jcstress tests of this module in JVMs of their own, shortly; without arguments of its own jcstress runs for
 * hours.
 */
class StressIT {
    private static final boolean THOROUGH = Boolean.getBoolean("thorough");

    /**
     * Two JVMs of one kind: the compiler that reorders most, in an order that chance decides. The interpreter and the
     * other compiler, which reorder less and run less often in the same time, have their turn in the long run.
     */
    private static final List<String> SHORT_RUN = List.of(
            "-jvmArgs",
            "-XX:-TieredCompilation -XX:+UnlockDiagnosticVMOptions"
                    + " -XX:+StressLCM -XX:+StressGCM -XX:+StressIGVN -XX:+StressCCP",
            "-f",
            "2",
            "-iters",
            "2",
            "-time",
            "80",
            "-sc",
            "false",
            "-c",
            "2",
            "-v");

    private static final List<String> LONG_RUN =
            List.of("-f", "1", "-iters", "5", "-time", "500", "-sc", "false", "-c", "2", "-v");

    @Test
    @Timeout(value = 41, unit = TimeUnit.MINUTES)
    void shouldFindNoForbiddenOutcome() throws IOException, InterruptedException {
        Path directory = Files.createDirectories(Path.of("target", "jcstress"));
        File output = directory.resolve("output.txt").toFile();
        List<String> command = new java.util.ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp",
                System.getProperty("java.class.path"),
                "org.openjdk.jcstress.Main",
                "-r",
                directory.toString()));
        command.addAll(THOROUGH ? LONG_RUN : SHORT_RUN);
        Process process = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(output)
                .start();
        try {
            assertTrue(
                    process.waitFor(THOROUGH ? 40 : 12, TimeUnit.MINUTES), () -> "jcstress did not end; see " + output);
        } finally {
            process.destroyForcibly();
        }
        String text = Files.readString(output.toPath());
        assertEquals(List.of(), failures(text), () -> "see " + output);
        assertEquals(0, process.exitValue(), text);
        assertFalse(text.contains("would not run"), text); // more actors than processors
        for (String test : List.of("CompletionActionStress", "WatchStress", "DispatcherStress", "HandleReuseStress")) {
            assertTrue(text.contains(test), text);
        }
    }

    /** What jcstress reports at its end of each test that has failed: its outcomes, and what its JVM printed. */
    private static List<String> failures(String text) {
        int report = Math.max(0, text.indexOf("RUN RESULTS:"));
        return Stream.of(text.substring(report).split("(?m)^(?=\\.+ \\[)"))
                .filter(part -> part.startsWith(".") && !part.contains(". [OK] "))
                .map(String::strip)
                .toList();
    }
}
