package io.madeleine.testkit;

import io.madeleine.pmm.spi.BufferGroup;

/**
 * A pipe for links with dynamic buffers: it takes the user's blocks.
 *
 * <p>Threading: as {@link LoopPipe}.
 */
abstract sealed class LoopDynamicPipe extends LoopPipe permits LoopStream, LoopPosts {
    LoopDynamicPipe(LoopTm receiver) {
        super(receiver);
    }

    /** Puts a header in if there is room for all of it. */
    abstract boolean putHeader(long header);

    /** Puts payload in while there is room. If a block cannot be read, the bytes before it stay in the pipe. */
    abstract void putPayload(BufferGroup group, long maxBytes);
}
