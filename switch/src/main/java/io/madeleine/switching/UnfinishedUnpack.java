package io.madeleine.switching;

import io.madeleine.api.BlockLayout;
import io.madeleine.api.ReceiveMode;
import io.madeleine.api.SendMode;
import java.lang.foreign.MemorySegment;

/**
 * An unpack whose wait ended early, at its deadline or by an interrupt: the call may be repeated and goes on then.
 *
 * <p>Threading: immutable.
 *
 * @param block where the block lies, which may be a single range
 * @param described whether the block's description has been dealt with, and the block itself is awaited
 */
record UnfinishedUnpack(BlockLayout block, SendMode send, ReceiveMode receive, boolean described) {
    /** Whether a call is the same once more. */
    boolean isRepeatedBy(MemorySegment other, long at, long count, SendMode sendMode, ReceiveMode receiveMode) {
        return isRepeatedBy(BlockLayout.of(other, at, count), sendMode, receiveMode);
    }

    /** The same for a block that lies in the ranges of a layout. */
    boolean isRepeatedBy(BlockLayout other, SendMode sendMode, ReceiveMode receiveMode) {
        return block.equals(other) && send == sendMode && receive == receiveMode;
    }

    /** How many bytes the block has. */
    long bytes() {
        return block.byteSize();
    }

    @Override
    public String toString() {
        return "unpack of " + bytes() + " bytes, " + send + "/" + receive;
    }
}
