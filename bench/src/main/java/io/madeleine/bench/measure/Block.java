package io.madeleine.bench.measure;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;

/**
 * Memory of a message, in the two shapes that libraries want.
 *
 * <p>Threading: confined to caller; the position and limit of the buffer are whoever uses it last.
 *
 * @param memory the memory
 * @param buffer the same memory
 */
public record Block(MemorySegment memory, ByteBuffer buffer) {
    /** Both shapes of a piece of memory. */
    public static Block of(MemorySegment memory) {
        return new Block(memory, memory.asByteBuffer());
    }
}
