package io.madeleine.bench.report;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Locale;

/**
 * Writes rows as the kind of file that a name asks for.
 *
 * <p>Threading: stateless.
 */
final class Reports {
    static final List<String> KINDS = List.of(".html", ".md", ".csv");

    private Reports() {}

    static boolean isKnown(Path file) {
        return KINDS.stream().anyMatch(name(file)::endsWith);
    }

    private static String name(Path file) {
        return file.toString().toLowerCase(Locale.ROOT);
    }

    static void write(Path file, Rows rows, Instant now) throws IOException {
        String text = name(file).endsWith(".html")
                ? HtmlReport.of(rows, now)
                : name(file).endsWith(".md") ? MarkdownReport.of(rows) : CsvReport.of(rows);
        Files.writeString(file, text, StandardCharsets.UTF_8);
    }
}
