package io.madeleine.bench.report;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** Rows to try reports with: figures made up after those of real libraries. */
public final class Samples {
    private Samples() {}

    /** The file. */
    public static Path file() {
        try {
            return Path.of(Samples.class.getResource("/perf-sample.jsonl").toURI());
        } catch (URISyntaxException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Its lines. */
    public static List<String> lines() {
        try {
            return Files.readAllLines(file());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
