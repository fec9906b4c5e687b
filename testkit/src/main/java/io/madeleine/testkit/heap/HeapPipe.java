package io.madeleine.testkit.heap;

import io.madeleine.pmm.spi.BufferGroup;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * One direction of a connection: the frames of the handshake, then packets, each with a piece for the header and pieces
 * for the payload. (A real network would copy into memory that exists already.)
 *
 * <p>Threading: one thread at a time puts, one takes; shared state is volatile.
 */
final class HeapPipe {
    static final int CAPACITY_BYTES = 1 << 16;

    private final Queue<byte[]> pieces = new ConcurrentLinkedQueue<>();
    private final AtomicLong bytes = new AtomicLong();

    /** How many bytes of the piece in front have been taken. */
    private volatile int taken;

    /** Whether the sender was told to wait for room. */
    volatile boolean isAwaited;

    /** Whether the sender has finished or closed: it puts nothing more. */
    volatile boolean hasEnded;

    /** Whether the sender has ended in order, by {@code finish}. */
    volatile boolean hasFinished;

    /** Whether the receiver has closed: it takes nothing more. */
    volatile boolean isClosed;

    boolean hasRoom() {
        return bytes.get() < CAPACITY_BYTES;
    }

    boolean hasBytes() {
        return !pieces.isEmpty();
    }

    void put(byte[] piece) {
        if (piece.length > 0) {
            bytes.addAndGet(piece.length);
            pieces.add(piece);
        }
    }

    /**
     * Puts bytes of the group while there is room. If a block's memory was freed, the bytes before it stay in the pipe.
     */
    void put(BufferGroup group) {
        while (hasRoom() && !group.isEmpty()) {
            long before = group.remainingBytes();
            byte[] piece = new byte[(int) Math.min(before, CAPACITY_BYTES)];
            try {
                group.drainTo(MemorySegment.ofArray(piece), 0, piece.length);
            } finally {
                int moved = (int) (before - group.remainingBytes());
                put(moved == piece.length ? piece : Arrays.copyOf(piece, moved));
            }
        }
    }

    boolean putHeader(long header) {
        boolean room = hasRoom();
        if (room) {
            put(ByteBuffer.allocate(Long.BYTES).putLong(header).array());
        }
        return room;
    }

    @Nullable
    ByteBuffer takeFrame() {
        byte[] piece = pieces.peek();
        return piece == null ? null : ByteBuffer.wrap(piece, 0, (int) drop(piece.length));
    }

    /** The next header, or 0 if there is none. */
    long takeHeader() {
        ByteBuffer header = takeFrame();
        return header == null ? 0 : header.getLong();
    }

    long take(BufferGroup group, long maxBytes) {
        byte[] piece = pieces.peek();
        long before = group.remainingBytes();
        try {
            return piece == null
                    ? 0
                    : group.fillFrom(MemorySegment.ofArray(piece), taken, Math.min(maxBytes, piece.length - taken));
        } finally {
            drop(before - group.remainingBytes());
        }
    }

    long drop(long maxBytes) {
        byte[] piece = pieces.peek();
        if (piece == null) {
            return 0;
        }
        int dropped = (int) Math.min(maxBytes, piece.length - taken);
        boolean whole = taken + dropped == piece.length;
        taken = whole ? 0 : taken + dropped;
        if (whole) {
            pieces.remove();
        }
        bytes.addAndGet(-dropped);
        return dropped;
    }
}
