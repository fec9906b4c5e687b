package io.madeleine.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Jazzer looks for bytes that break what reads them, guided by what they make the code do. In a process of its own,
 * because it needs native access, which the tests of the core do without. What it finds is written behind the failure.
 * The module that uses this has Jazzer on its class path.
 *
 * <p>Threading: confined.
 *
 * @param process the process that looks
 * @param output what it says
 */
public record Fuzzing(Process process, Path output) {
    private static final int SECONDS = Boolean.getBoolean("thorough") ? 180 : 4;

    /** In a few seconds the optimizing compiler takes more than it gives. */
    private static final String COMPILERS =
            Boolean.getBoolean("thorough") ? "-XX:+TieredCompilation" : "-XX:TieredStopAtLevel=1";

    private static final Pattern COVERAGE = Pattern.compile("DONE +cov: (\\d+)");

    /**
     * Begins to look.
     *
     * @param target has a method {@code fuzzerTestOneInput(byte[])}
     * @param folder for what is written
     * @param packages the classes whose paths guide the search, as in {@code io.madeleine.tm.tcp.**}
     * @param seeds inputs to begin with
     */
    public static Fuzzing start(Class<?> target, Path folder, String packages, byte[]... seeds) throws IOException {
        Path own = Files.createDirectory(folder.resolve(target.getSimpleName()));
        Path corpus = Files.createDirectory(own.resolve("corpus"));
        for (int i = 0; i < seeds.length; i++) {
            Files.write(corpus.resolve("seed" + i), seeds[i]);
        }
        Path output = own.resolve("output");
        return new Fuzzing(
                new ProcessBuilder(List.of(
                                Path.of(System.getProperty("java.home"), "bin", "java")
                                        .toString(),
                                "-Xmx512m",
                                "-XX:+UseSerialGC",
                                COMPILERS,
                                "-cp",
                                System.getProperty("java.class.path"),
                                "com.code_intelligence.jazzer.Jazzer",
                                "--target_class=" + target.getName(),
                                "--instrumentation_includes=" + packages,
                                "--reproducer_path=" + own,
                                "-artifact_prefix=" + own + "/",
                                "-max_total_time=" + SECONDS,
                                "-max_len=4096",
                                "-rss_limit_mb=3000",
                                "-timeout=10",
                                corpus.toString()))
                        .redirectErrorStream(true)
                        .redirectOutput(output.toFile())
                        .start(),
                output);
    }

    /** Waits for the end, and fails if anything was found, or if the search reached too little. */
    public void assertNothingFound(int leastCoverage) throws InterruptedException {
        assertTrue(process.waitFor(SECONDS + 120, TimeUnit.SECONDS), () -> "it does not end\n" + text());
        String said = text();
        assertEquals(0, process.exitValue(), said);
        Matcher coverage = COVERAGE.matcher(said);
        assertTrue(coverage.find(), said);
        assertTrue(
                Integer.parseInt(coverage.group(1)) >= leastCoverage,
                () -> "it reached " + coverage.group(1) + " places only, " + leastCoverage + " expected\n" + said);
    }

    private String text() {
        try {
            return Files.readString(output, StandardCharsets.ISO_8859_1);
        } catch (IOException e) {
            return e.toString();
        }
    }

    /** Ends the process if it still looks. */
    public void end() {
        process.destroyForcibly();
    }
}
