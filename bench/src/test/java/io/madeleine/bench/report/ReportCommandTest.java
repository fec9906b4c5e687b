package io.madeleine.bench.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.bench.PerfTool;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code mad perf --from ROWS}: nothing is measured. */
class ReportCommandTest {
    @TempDir
    Path directory;

    private final StringWriter err = new StringWriter();

    private int perf(String... arguments) {
        return new PerfTool().run(new PrintWriter(new StringWriter()), new PrintWriter(err, true), arguments);
    }

    @Test
    void shouldMakeSeveralReportsFromKeptRows() throws Exception {
        Path page = directory.resolve("a.html");
        Path text = directory.resolve("a.md");
        Path table = directory.resolve("a.CSV");
        int code = perf(
                "--from",
                Samples.file().toString(),
                "--report",
                page.toString(),
                "--report",
                text.toString(),
                "--report",
                table.toString());
        assertEquals(0, code, err.toString());
        assertTrue(Files.readString(page).startsWith("<!DOCTYPE html>"));
        assertTrue(Files.readString(text).startsWith("# Messages"));
        assertTrue(Files.readString(table).startsWith("kind,name"));
    }

    @Test
    void shouldRefuseAnUnknownKindOfReportBeforeAnythingIsMeasured() {
        assertEquals(2, perf("--report", "x.pdf"));
        assertTrue(
                err.toString().contains("--report x.pdf: expected a name that ends with one of .html, .md, .csv"),
                err.toString());
    }

    @Test
    void shouldSayWhichFileOfRowsIsMissing() {
        assertEquals(1, perf("--from", directory.resolve("none.jsonl").toString(), "--report", "x.md"));
        assertTrue(err.toString().contains("none.jsonl"), err.toString());
    }
}
