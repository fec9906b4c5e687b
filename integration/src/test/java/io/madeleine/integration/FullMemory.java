package io.madeleine.integration;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * A small memory file system, seen only by the processes that {@link #command()} runs. Tests that need it are skipped
 * where this user may not mount.
 *
 * <p>Threading: confined to the test.
 */
final class FullMemory implements AutoCloseable {
    private final Path directory;
    private final Process keeper;

    private FullMemory(Path directory, Process keeper) {
        this.directory = directory;
        this.keeper = keeper;
    }

    /** Mounts one of that size, in the words of mount. */
    static FullMemory of(String size) throws IOException {
        Path directory = Files.createTempDirectory("mit-full-");
        Process keeper;
        try {
            keeper = new ProcessBuilder(
                            "unshare",
                            "--mount",
                            "sh",
                            "-c",
                            "mount -t tmpfs -o size=" + size + " none " + directory
                                    + " && echo mounted && exec sleep 120")
                    .start();
        } catch (IOException e) {
            Files.delete(directory);
            assumeTrue(false, "no unshare: " + e.getMessage());
            throw e;
        }
        FullMemory memory = new FullMemory(directory, keeper);
        String said = keeper.inputReader().readLine();
        if (said == null) {
            memory.close();
            assumeTrue(false, "mounting a memory file system is not allowed here");
        }
        return memory;
    }

    String path() {
        return directory.toString();
    }

    /** What runs a command so that it sees the file system. */
    List<String> command() {
        return List.of("nsenter", "--target", Long.toString(keeper.pid()), "--mount");
    }

    @Override
    public void close() throws IOException {
        keeper.destroyForcibly().onExit().join();
        Files.delete(directory);
    }
}
