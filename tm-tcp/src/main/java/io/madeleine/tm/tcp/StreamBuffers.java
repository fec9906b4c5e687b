package io.madeleine.tm.tcp;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * The buffers between the blocks and the kernel, shared by all connections of an adapter: a connection has one only while
 * there is something in it, so that they can be large though idle connections cost next to nothing, and the one in use is
 * mostly in the cache.
 *
 * <p>Threading: thread-safe, lock-free; a buffer belongs to whoever took it until it is given back.
 */
final class StreamBuffers {
    /** More than so many at rest are left to the garbage collector. */
    private static final int KEPT = 16;

    private final int bytes;
    private final AtomicReferenceArray<@Nullable StreamBuffer> kept = new AtomicReferenceArray<>(KEPT);

    /** A buffer outside the heap, as the kernel wants it and as a segment. */
    record StreamBuffer(ByteBuffer bytes, MemorySegment memory) {
        static StreamBuffer of(int capacityBytes) {
            ByteBuffer bytes = ByteBuffer.allocateDirect(capacityBytes);
            return new StreamBuffer(bytes, MemorySegment.ofBuffer(bytes));
        }
    }

    /** Buffers of that size. */
    StreamBuffers(int bytes) {
        this.bytes = bytes;
    }

    /** A buffer, with anything in it. */
    StreamBuffer take() {
        for (int i = 0; i < KEPT; i++) {
            if (kept.getPlain(i) != null) {
                StreamBuffer taken = kept.getAndSet(i, null);
                if (taken != null) {
                    return taken;
                }
            }
        }
        return StreamBuffer.of(bytes);
    }

    /** Gives a buffer back. */
    void give(StreamBuffer unused) {
        for (int i = 0; i < KEPT; i++) {
            if (kept.getPlain(i) == null && kept.compareAndSet(i, null, unused)) {
                return;
            }
        }
    }
}
