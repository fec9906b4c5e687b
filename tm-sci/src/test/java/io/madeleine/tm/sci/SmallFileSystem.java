package io.madeleine.tm.sci;

import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

/** A memory file system of its own for a test; making one takes a superuser, and without him the test is skipped. */
final class SmallFileSystem implements AutoCloseable {
    private final Path directory;

    private SmallFileSystem(Path directory) {
        this.directory = directory;
    }

    /** Mounts one with these options, in the words of mount. */
    static SmallFileSystem mount(Path directory, String options) throws IOException {
        assumeTrue(
                run("mount", "-t", "tmpfs", "-o", options, "tmpfs", directory.toString()),
                "this user may not mount a tmpfs");
        return new SmallFileSystem(directory);
    }

    /** Changes its options. */
    void remount(String options) throws IOException {
        assertTrue(run("mount", "-o", "remount," + options, directory.toString()));
    }

    long usedBytes() throws IOException {
        var store = Files.getFileStore(directory);
        return store.getTotalSpace() - store.getUnallocatedSpace();
    }

    @Override
    public void close() throws IOException {
        assertTrue(run("umount", "-l", directory.toString()));
    }

    private static boolean run(String... command) throws IOException {
        Process process = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start();
        return process.onExit().orTimeout(10, TimeUnit.SECONDS).join().exitValue() == 0;
    }
}
