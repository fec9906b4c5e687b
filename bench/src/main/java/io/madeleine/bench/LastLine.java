package io.madeleine.bench;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;

/**
 * The answer of a short program: the last line that it prints. Its standard error passes through.
 *
 * <p>Threading: stateless.
 */
final class LastLine {
    private LastLine() {}

    /**
     * Runs a program to its end.
     *
     * @param environment what is added to the environment
     */
    static String of(List<String> command, Map<String, String> environment) throws IOException {
        ProcessBuilder builder = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT);
        builder.environment().putAll(environment);
        Process process = builder.start();
        process.getOutputStream().close();
        List<String> said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8)
                .lines()
                .toList();
        return said.isEmpty() ? "the JVM that was to check it ended without an answer" : said.getLast();
    }
}
