package io.madeleine.tm.via.ffi;

import io.madeleine.tm.via.ffi.Offsets.FiMsgRma;
import io.madeleine.tm.via.ffi.Offsets.FiRmaIov;

/**
 * The arguments of {@code fi_writemsg} for one range: struct fi_msg_rma, then what it points to.
 *
 * <p>Threading: stateless.
 */
public final class WriteMessage {
    /** The size of all of it. */
    public static final int BYTES = 128;

    private static final int SOURCE = 64;
    private static final int DESCRIPTOR = 80;
    private static final int TARGET = 88;

    private WriteMessage() {}

    static void fill(
            long scratch, long address, long bytes, long descriptor, long peer, long target, long key, long context) {
        Raw.putPointer(scratch + SOURCE, address);
        Raw.putPointer(scratch + SOURCE + Long.BYTES, bytes);
        Raw.putPointer(scratch + DESCRIPTOR, descriptor);
        Raw.putPointer(scratch + TARGET + FiRmaIov.ADDR, target);
        Raw.putPointer(scratch + TARGET + FiRmaIov.LEN, bytes);
        Raw.putPointer(scratch + TARGET + FiRmaIov.KEY, key);
        Raw.putPointer(scratch + FiMsgRma.MSG_IOV, scratch + SOURCE);
        Raw.putPointer(scratch + FiMsgRma.DESC, scratch + DESCRIPTOR);
        Raw.putPointer(scratch + FiMsgRma.IOV_COUNT, 1);
        Raw.putPointer(scratch + FiMsgRma.ADDR, peer);
        Raw.putPointer(scratch + FiMsgRma.RMA_IOV, scratch + TARGET);
        Raw.putPointer(scratch + FiMsgRma.RMA_IOV_COUNT, 1);
        Raw.putPointer(scratch + FiMsgRma.CONTEXT, context);
        Raw.putPointer(scratch + FiMsgRma.DATA, 0);
    }
}
