package io.madeleine.tm.tcp.io;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;

/**
 * The buffers between blocks and kernel, shared by all connections of an adapter. A connection holds a buffer only
 * while there are bytes in it. So the buffers can be large although idle connections cost almost nothing, and the
 * buffer in use is mostly in the cache.
 *
 * <p>Threading: thread-safe, lock-free. Ownership: a buffer belongs to the thread that took it until it gives it back.
 */
public final class StreamBuffers {
    private final Pool<StreamBuffer> pool;

    /**
     * A direct buffer, for the kernel as a byte buffer and for blocks as a segment. It begins where the kernel copies
     * fast ({@link SlowCopy}).
     */
    record StreamBuffer(ByteBuffer bytes, MemorySegment memory) {
        static StreamBuffer of(int capacityBytes) {
            ByteBuffer bytes = ByteBuffer.allocateDirect(SlowCopy.AWAY_BYTES + capacityBytes + 2 * SlowCopy.PAGE_BYTES)
                    .alignedSlice(SlowCopy.PAGE_BYTES)
                    .slice(SlowCopy.AWAY_BYTES, capacityBytes);
            return new StreamBuffer(bytes, MemorySegment.ofBuffer(bytes));
        }
    }

    /** Creates a pool of buffers of one size. */
    public StreamBuffers(int bytes) {
        pool = new Pool<>(() -> StreamBuffer.of(bytes));
    }

    /** Takes a buffer with undefined content. */
    StreamBuffer take() {
        return pool.take();
    }

    /** Takes a buffer with room for at least this many bytes, larger than the others if necessary. */
    StreamBuffer take(int bytes) {
        StreamBuffer taken = pool.take();
        return taken.bytes().capacity() < bytes ? StreamBuffer.of(bytes) : taken;
    }

    /** Gives a buffer back. Ownership: the caller must not use it again. */
    void give(StreamBuffer unused) {
        pool.give(unused);
    }
}
