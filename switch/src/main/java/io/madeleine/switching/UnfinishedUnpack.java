package io.madeleine.switching;

import io.madeleine.api.ReceiveMode;
import io.madeleine.api.SendMode;
import java.lang.foreign.MemorySegment;

/**
 * An unpack whose wait ended early, at its deadline or by an interrupt: the call may be repeated and goes on then.
 *
 * <p>Threading: immutable.
 *
 * @param described whether the block's description has been dealt with, and the block itself is awaited
 */
record UnfinishedUnpack(
        MemorySegment block, long offset, long bytes, SendMode send, ReceiveMode receive, boolean described) {
    /** Whether a call is the same once more. */
    boolean isRepeatedBy(MemorySegment other, long at, long count, SendMode sendMode, ReceiveMode receiveMode) {
        return block.equals(other) && offset == at && bytes == count && send == sendMode && receive == receiveMode;
    }

    @Override
    public String toString() {
        return "unpack of " + bytes + " bytes, " + send + "/" + receive;
    }
}
