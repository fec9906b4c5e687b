package io.madeleine.samples;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.session.JavaArguments;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** The command mad, as tests run it. */
final class MadCommand {
    /** The folder of the project. */
    static final Path ROOT = root();

    private static final long PATIENCE_S = 90;

    private MadCommand() {}

    private static Path root() {
        Path folder = Path.of("").toAbsolutePath();
        while (!Files.isRegularFile(folder.resolve("mad"))) {
            folder = folder.getParent();
        }
        return folder;
    }

    /** What a program printed and answered. */
    record Run(int code, List<String> out, List<String> err) {}

    /**
     * Does what the script mad does with these arguments.
     *
     * @param directory for the output
     */
    static Run run(Path directory, List<String> arguments) throws IOException, InterruptedException {
        Path out = directory.resolve("out");
        Path err = directory.resolve("err");
        Process process = start(arguments, out, err);
        try {
            assertTrue(process.waitFor(PATIENCE_S, TimeUnit.SECONDS), "mad " + arguments + " does not end");
        } finally {
            process.destroy();
        }
        return new Run(process.exitValue(), Files.readAllLines(out), withoutNotes(Files.readAllLines(err)));
    }

    /** The same without waiting for the end. The caller ends the process. */
    static Process start(List<String> arguments, Path out, Path err) throws IOException {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(JavaArguments.withMadeleine(
                List.of("-cp", System.getProperty("java.class.path"), "io.madeleine.cli.Mad"), List.of()));
        command.addAll(arguments);
        return new ProcessBuilder(command)
                .directory(ROOT.toFile())
                .redirectOutput(out.toFile())
                .redirectError(err.toFile())
                .start();
    }

    /** Each JVM notes that it takes options from the environment, as those of this test do. */
    private static List<String> withoutNotes(List<String> lines) {
        return lines.stream()
                .filter(line -> !line.contains("NOTE: Picked up JDK_JAVA_OPTIONS: "))
                .toList();
    }
}
