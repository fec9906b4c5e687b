package io.madeleine.tm.via;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/**
 * Looks whether libfabric is installed, without loading anything.
 *
 * <p>Threading: stateless.
 */
final class LibraryFile {
    private static final String NAME = "libfabric.so";
    private static final Path CACHE = Path.of("/etc/ld.so.cache");

    private LibraryFile() {}

    /** Whether the dynamic linker probably finds it: in its cache, or in a directory of LD_LIBRARY_PATH. */
    static boolean isInstalled() {
        return Stream.of(System.getenv().getOrDefault("LD_LIBRARY_PATH", "").split(":"))
                        .filter(directory -> !directory.isEmpty())
                        .anyMatch(directory ->
                                Files.exists(Path.of(directory, NAME + ".1")) || Files.exists(Path.of(directory, NAME)))
                || isInCache();
    }

    private static boolean isInCache() {
        try {
            return new String(Files.readAllBytes(CACHE), StandardCharsets.ISO_8859_1).contains(NAME);
        } catch (IOException _) {
            return true; // a system without a cache: loading will tell
        }
    }
}
