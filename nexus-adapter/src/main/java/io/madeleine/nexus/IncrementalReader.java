package io.madeleine.nexus;

import io.madeleine.nexus.wan.SealedConnection;
import io.madeleine.nexus.wire.ArgumentMemory;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Reads arguments from a connection into memory that grows with the bytes received: a peer that announces much and
 * sends little occupies little.
 *
 * <p>Threading: confined to one thread at a time.
 */
final class IncrementalReader {
    /** How much memory is allocated before anything has arrived. */
    private static final int FIRST_BYTES = 1 << 16;

    private final SealedConnection connection;
    private final ArgumentMemory memory;
    private long reserved;

    IncrementalReader(SealedConnection connection, ArgumentMemory memory) {
        this.connection = connection;
        this.memory = memory;
    }

    /** Reads exactly this many bytes. */
    byte[] read(int bytes) throws IOException {
        byte[] array = new byte[Math.min(bytes, FIRST_BYTES)];
        connection.readFully(array, 0, array.length);
        while (array.length < bytes) {
            array = readMore(array, bytes);
        }
        return array;
    }

    private byte[] readMore(byte[] array, int bytes) throws IOException {
        byte[] larger = Arrays.copyOf(array, (int) Math.min(bytes, 2L * array.length));
        connection.readFully(larger, array.length, larger.length - array.length);
        return larger;
    }

    /**
     * Reads all large arguments of a request. If there is no room for them, skips them and returns null. Otherwise
     * {@link #release} must follow when they are not needed any more.
     */
    MemorySegment @Nullable [] readAll(long[] lengths) throws IOException {
        MemorySegment[] blocks = new MemorySegment[lengths.length];
        for (int i = 0; i < lengths.length; i++) {
            byte[] block = readWithin(lengths[i]);
            if (block == null) {
                release();
                for (int dropped = i + 1; dropped < lengths.length; dropped++) {
                    connection.skip(lengths[dropped]);
                }
                return null;
            }
            blocks[i] = MemorySegment.ofArray(block);
        }
        return blocks;
    }

    /** Reads one argument; if there is no room for it, skips it and returns null. */
    private byte @Nullable [] readWithin(long bytes) throws IOException {
        byte[] array = new byte[0];
        while (array.length < bytes) {
            long next = Math.min(bytes, Math.max(FIRST_BYTES, 2L * array.length));
            long needed = reserved + next - array.length;
            if (next > Integer.MAX_VALUE - 8 || !memory.tryGrow(reserved, needed)) {
                connection.skip(bytes - array.length);
                return null;
            }
            reserved = needed;
            byte[] larger = Arrays.copyOf(array, (int) next);
            connection.readFully(larger, array.length, larger.length - array.length);
            array = larger;
        }
        return array;
    }

    /** Releases the room of all arguments that were read. */
    void release() {
        memory.release(reserved);
        reserved = 0;
    }
}
