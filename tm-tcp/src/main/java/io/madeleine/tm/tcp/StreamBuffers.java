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
    private static final int PAGE_BYTES = 4096;

    /**
     * Where in a page a buffer begins. What the kernel has received mostly begins at the beginning of one; where the target lies 1 to
     * 31 bytes behind the source, pages aside, some processors (AMD, by "rep movsb") copy at a fifth of their rate, and malloc puts
     * large pieces 16 bytes behind the beginning of a page.
     */
    static final int BEGIN_BYTES = PAGE_BYTES / 2;

    private final Pool<StreamBuffer> pool;

    /** A buffer outside the heap, as the kernel wants it and as a segment. */
    record StreamBuffer(ByteBuffer bytes, MemorySegment memory) {
        static StreamBuffer of(int capacityBytes) {
            ByteBuffer bytes = ByteBuffer.allocateDirect(BEGIN_BYTES + capacityBytes + 2 * PAGE_BYTES)
                    .alignedSlice(PAGE_BYTES)
                    .slice(BEGIN_BYTES, capacityBytes);
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
