package io.madeleine.stress;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
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
     * One JVM per test, since starting it takes longer than the iterations: with the compiler that reorders most, in an
     * order that chance decides. The interpreter and the other compiler, which reorder less and run less often in the
     * same time, have their turn in the long run.
     */
    private static final List<String> SHORT_RUN = List.of(
            "-jvmArgs",
            "-XX:-TieredCompilation -XX:+UnlockDiagnosticVMOptions"
                    + " -XX:+StressLCM -XX:+StressGCM -XX:+StressIGVN -XX:+StressCCP",
            "-f",
            "1",
            "-iters",
            "4",
            "-time",
            "80",
            "-sc",
            "false",
            "-c",
            "2",
            "-v");

    private static final List<String> LONG_RUN =
            List.of("-f", "1", "-iters", "5", "-time", "500", "-sc", "false", "-c", "2", "-v");

    private static final String VM_ERROR = ".. [VM ERROR] ";

    @Test
    @Timeout(value = 41, unit = TimeUnit.MINUTES)
    void shouldFindNoForbiddenOutcome() throws IOException, InterruptedException {
        Run all = new Run("output.txt", ".");
        List<String> failures = all.failures();
        List<String> ended = failures.stream()
                .filter(failure -> failure.contains(VM_ERROR))
                .map(StressIT::nameOf)
                .toList();
        if (!ended.isEmpty() && ended.size() == failures.size()) {
            System.err.println("jcstress: a JVM ended by itself, so these run once more: " + failures);
            failures = new Run("again.txt", String.join("|", ended)).failures();
        }
        assertEquals(List.of(), failures);
        assertFalse(all.text.contains("would not run"), all.text); // more actors than processors
        for (String test : List.of("CompletionActionStress", "WatchStress", "DispatcherStress", "HandleReuseStress")) {
            assertTrue(all.text.contains(test), all.text);
        }
    }

    private static String nameOf(String failure) {
        String line = failure.lines().findFirst().orElseThrow();
        return line.substring(line.indexOf(VM_ERROR) + VM_ERROR.length()).strip();
    }

    /** A run of jcstress over the tests whose names match. */
    private static final class Run {
        final String text;
        private final int exitCode;

        Run(String file, String names) throws IOException, InterruptedException {
            Path directory = Files.createDirectories(Path.of("target", "jcstress"));
            File output = directory.resolve(file).toFile();
            List<String> command = new ArrayList<>(List.of(
                    Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                    "-cp",
                    System.getProperty("java.class.path"),
                    "org.openjdk.jcstress.Main",
                    "-t",
                    names,
                    "-r",
                    directory.toString()));
            command.addAll(THOROUGH ? LONG_RUN : SHORT_RUN);
            Process process = new ProcessBuilder(command)
                    .redirectErrorStream(true)
                    .redirectOutput(output)
                    .start();
            try {
                assertTrue(
                        process.waitFor(THOROUGH ? 40 : 12, TimeUnit.MINUTES),
                        () -> "jcstress did not end; see " + output);
            } finally {
                process.destroyForcibly();
            }
            text = Files.readString(output.toPath());
            exitCode = process.exitValue();
        }

        /** What jcstress reports at its end of each test that has failed: its outcomes, and what its JVM printed. */
        List<String> failures() {
            int report = Math.max(0, text.indexOf("RUN RESULTS:"));
            List<String> found = Stream.of(text.substring(report).split("(?m)^(?=\\.+ \\[)"))
                    .filter(part -> part.startsWith(".") && !part.contains(". [OK] "))
                    .map(String::strip)
                    .toList();
            assertTrue(exitCode == 0 || !found.isEmpty(), text);
            return found;
        }
    }
}
