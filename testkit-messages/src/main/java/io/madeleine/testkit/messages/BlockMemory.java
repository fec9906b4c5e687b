package io.madeleine.testkit.messages;

import static io.madeleine.testkit.messages.TestBlocks.block;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** The kind of memory of a block. */
enum BlockMemory {
    HEAP,
    CONFINED,
    SHARED,
    SESSION;

    /** Networks treat smaller blocks of the session's memory like others. */
    private static final int SESSION_FROM_BYTES = 4096;

    MemorySegment allocate(Arena confined, Arena session, long bytes) {
        return switch (this) {
            case HEAP -> MemorySegment.ofArray(new byte[(int) bytes]);
            case CONFINED -> confined.allocate(Math.max(1, bytes), 8).asSlice(0, bytes);
            case SHARED -> block(bytes);
            case SESSION -> session.allocate(bytes);
        };
    }

    /**
     * Whether this kind of memory is treated specially for this size, and the test does not need too much of it.
     */
    boolean isWorthTrying(int bytes) {
        return this != SESSION || bytes >= SESSION_FROM_BYTES && bytes < BlockShape.VERY_LARGE_BYTES;
    }
}
