package io.madeleine.switching;

import io.madeleine.api.BlockLayout;
import io.madeleine.api.ReceiveMode;
import io.madeleine.api.SendMode;
import java.lang.foreign.MemorySegment;

/**
 * An unpack call whose wait ended early, at its deadline or by an interrupt. The user may repeat the call to continue
 * it.
 *
 * <p>Threading: immutable.
 *
 * @param block the memory of the block; a single range for a contiguous block
 * @param described whether the block's descriptor has been checked, so that the call waits for the block itself
 */
record UnfinishedUnpack(BlockLayout block, SendMode send, ReceiveMode receive, boolean described) {
    /** Whether a call with these arguments repeats this one. */
    boolean isRepeatedBy(MemorySegment other, long at, long count, SendMode sendMode, ReceiveMode receiveMode) {
        return isRepeatedBy(BlockLayout.of(other, at, count), sendMode, receiveMode);
    }

    /** As above, for a block that lies in the ranges of a layout. */
    boolean isRepeatedBy(BlockLayout other, SendMode sendMode, ReceiveMode receiveMode) {
        return block.equals(other) && send == sendMode && receive == receiveMode;
    }

    /** The size of the block in bytes. */
    long bytes() {
        return block.byteSize();
    }

    @Override
    public String toString() {
        return "unpack of " + bytes() + " bytes, " + send + "/" + receive;
    }
}
