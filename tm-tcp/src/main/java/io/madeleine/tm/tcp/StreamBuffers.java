package io.madeleine.tm.tcp;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;

/**
 * The buffers between the blocks and the kernel, shared by all connections of an adapter: a connection has one only while
 * there is something in it, so that they can be large though idle connections cost next to nothing, and the one in use is
 * mostly in the cache.
 *
 * <p>Threading: thread-safe, lock-free; a buffer belongs to whoever took it until it is given back.
 */
final class StreamBuffers {
    private final Pool<StreamBuffer> pool;

    /** A buffer outside the heap, as the kernel wants it and as a segment; it begins where the kernel's copies are fast. */
    record StreamBuffer(ByteBuffer bytes, MemorySegment memory) {
        static StreamBuffer of(int capacityBytes) {
            ByteBuffer bytes = ByteBuffer.allocateDirect(SlowCopy.AWAY_BYTES + capacityBytes + 2 * SlowCopy.PAGE_BYTES)
                    .alignedSlice(SlowCopy.PAGE_BYTES)
                    .slice(SlowCopy.AWAY_BYTES, capacityBytes);
            return new StreamBuffer(bytes, MemorySegment.ofBuffer(bytes));
        }
    }

    /** Buffers of that size. */
    StreamBuffers(int bytes) {
        pool = new Pool<>(() -> StreamBuffer.of(bytes));
    }

    /** A buffer, with anything in it. */
    StreamBuffer take() {
        return pool.take();
    }

    /** A buffer with room for so much, larger than the others if need be. */
    StreamBuffer take(int bytes) {
        StreamBuffer taken = pool.take();
        return taken.bytes().capacity() < bytes ? StreamBuffer.of(bytes) : taken;
    }

    /** Gives a buffer back. */
    void give(StreamBuffer unused) {
        pool.give(unused);
    }
}
