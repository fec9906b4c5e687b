package io.madeleine.bench.report;

import java.nio.file.Files;
import java.nio.file.Path;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;

/**
 * A file that is written at the end of long measurements.
 *
 * <p>Threading: stateless.
 */
public final class OutputFile {
    private OutputFile() {}

    /**
     * Checks, before anything is measured, that it can be written; leaves nothing behind.
     *
     * @throws ParameterException if it cannot
     */
    public static void check(CommandSpec spec, String option, Path file) {
        Path directory = file.toAbsolutePath().getParent();
        boolean writable = Files.exists(file)
                ? Files.isWritable(file) && !Files.isDirectory(file)
                : directory != null && Files.isDirectory(directory) && Files.isWritable(directory);
        if (!writable || file.toString().isEmpty()) {
            throw new ParameterException(
                    spec.commandLine(),
                    option + " " + file
                            + " cannot be written: expected a file that may be, in a directory that is there");
        }
    }
}
