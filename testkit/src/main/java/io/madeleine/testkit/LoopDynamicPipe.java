package io.madeleine.testkit;

import io.madeleine.pmm.spi.BufferGroup;

/**
 * A pipe that takes the user's blocks.
 *
 * <p>Threading: as {@link LoopPipe}.
 */
abstract sealed class LoopDynamicPipe extends LoopPipe permits LoopStream, LoopPosts {
    LoopDynamicPipe(LoopTm receiver) {
        super(receiver);
    }

    /** Puts a header in if there is room for the whole of it. */
    abstract boolean putHeader(long header);

    /** Puts payload in, as far as there is room; a block that cannot be read leaves what came before it in place. */
    abstract void putPayload(BufferGroup group, long maxBytes);
}
