package io.madeleine.bench.report;

import static org.junit.jupiter.api.Assumptions.abort;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/** Chromium without a window, as an instrument: what becomes of a page. */
record Chromium(Path program, Path directory) {
    private static final List<String> NAMES = List.of("chromium", "chromium-browser", "google-chrome");

    /** What the page is once it is drawn, and what the browser said about it. */
    record Drawn(String dom, String log) {
        long count(String part) {
            return dom.split(java.util.regex.Pattern.quote(part), -1).length - 1;
        }
    }

    /** The installed one; skips the test if there is none. */
    static Chromium installed(Path directory) {
        Optional<Path> found = NAMES.stream()
                .flatMap(name -> List.of(System.getenv("PATH").split(File.pathSeparator)).stream()
                        .map(folder -> Path.of(folder, name)))
                .filter(Files::isExecutable)
                .findFirst();
        return found.map(program -> new Chromium(program, directory))
                .orElseGet(() -> abort("no Chromium on the PATH (Debian: apt-get install chromium)"));
    }

    Drawn draw(Path page, int width) throws IOException, InterruptedException {
        Path dom = directory.resolve("dom.html");
        Path log = directory.resolve("chromium.log");
        List<String> command = new ArrayList<>(List.of(
                program.toString(),
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-quic",
                "--no-first-run",
                "--disable-background-networking",
                "--disable-component-update",
                "--disable-sync",
                "--enable-logging=stderr",
                "--host-resolver-rules=MAP * ~NOTFOUND",
                "--user-data-dir=" + Files.createTempDirectory(directory, "user"),
                "--window-size=" + width + ",1000",
                "--virtual-time-budget=2000",
                "--dump-dom",
                page.toUri().toString()));
        Process process = new ProcessBuilder(command)
                .redirectOutput(dom.toFile())
                .redirectError(log.toFile())
                .start();
        try {
            if (!process.waitFor(60, TimeUnit.SECONDS)) {
                throw new IllegalStateException("Chromium did not end within 60 s: " + Files.readString(log));
            }
        } finally {
            process.descendants().forEach(ProcessHandle::destroyForcibly);
            process.destroyForcibly();
        }
        return new Drawn(Files.readString(dom), Files.readString(log));
    }
}
