package io.madeleine.tm.sci.memory;

import static java.nio.file.StandardOpenOption.CREATE_NEW;
import static java.nio.file.StandardOpenOption.READ;
import static java.nio.file.StandardOpenOption.WRITE;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;

/**
 * Creates and maps files of shared memory.
 *
 * <p>Threading: stateless.
 */
public final class SegmentFile {
    /** Read and write for the owner. */
    public static final FileAttribute<Set<PosixFilePermission>> FILE_MODE =
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));

    private static final int CHUNK_BYTES = 64 * 1024;

    private SegmentFile() {}

    /**
     * Creates a file that must not exist yet, mode 0600, and maps it. Reserves its space by writing zeros: a sparse
     * file can be mapped even if the file system has no room for it, and an access to a page without room kills the
     * process (SIGBUS).
     *
     * @throws IOException if the file exists, or the file system is full; no file is left then
     */
    public static MemorySegment create(Path file, long bytes, Arena arena) throws IOException {
        return createEnd(file, bytes, bytes, arena);
    }

    private static void writeZeros(FileChannel channel, long offset, long bytes) throws IOException {
        ByteBuffer zeros = ByteBuffer.allocate((int) Math.min(CHUNK_BYTES, bytes));
        for (long written = 0; written < bytes; ) {
            zeros.clear().limit((int) Math.min(CHUNK_BYTES, bytes - written));
            written += channel.write(zeros, offset + written);
        }
    }

    /**
     * Creates a file that must not exist yet, mode 0600, reserves space for its end only, and maps this end.
     *
     * @throws IOException if the file exists, or the file system is full; no file is left then
     */
    public static MemorySegment createEnd(Path file, long fileBytes, long endBytes, Arena arena) throws IOException {
        try (FileChannel channel = FileChannel.open(file, Set.of(CREATE_NEW, READ, WRITE), FILE_MODE)) {
            try {
                writeZeros(channel, fileBytes - endBytes, endBytes);
                return channel.map(FileChannel.MapMode.READ_WRITE, fileBytes - endBytes, endBytes, arena);
            } catch (IOException e) {
                Files.deleteIfExists(file);
                throw e;
            }
        }
    }

    /**
     * Reserves space for a part of an existing file by writing zeros, and maps this part.
     *
     * @param offset a multiple of the page size
     * @throws IOException if the file does not exist, or the file system is full
     */
    public static MemorySegment mapZeros(Path file, long offset, long bytes, Arena arena) throws IOException {
        try (FileChannel channel = FileChannel.open(file, Set.of(READ, WRITE, LinkOption.NOFOLLOW_LINKS))) {
            writeZeros(channel, offset, bytes);
            return channel.map(FileChannel.MapMode.READ_WRITE, offset, bytes, arena);
        }
    }

    /**
     * Maps an existing file as a whole, read-only.
     *
     * @throws IOException if the file does not exist or is not a plain file
     */
    public static MemorySegment openToRead(Path file, Arena arena) throws IOException {
        try (FileChannel channel = FileChannel.open(file, Set.of(READ, LinkOption.NOFOLLOW_LINKS))) {
            return channel.map(FileChannel.MapMode.READ_ONLY, 0, channel.size(), arena);
        }
    }

    /**
     * Maps an existing file as a whole, for reading and writing.
     *
     * @throws IOException if the file is not a plain file, or its length is out of bounds
     */
    public static MemorySegment open(Path file, long minBytes, long maxBytes, Arena arena) throws IOException {
        try (FileChannel channel = FileChannel.open(file, Set.of(READ, WRITE, LinkOption.NOFOLLOW_LINKS))) {
            long bytes = channel.size();
            if (bytes < minBytes || bytes > maxBytes) {
                throw new IOException(file + " has " + bytes + " bytes, expected " + minBytes + " to " + maxBytes);
            }
            return channel.map(FileChannel.MapMode.READ_WRITE, 0, bytes, arena);
        }
    }
}
