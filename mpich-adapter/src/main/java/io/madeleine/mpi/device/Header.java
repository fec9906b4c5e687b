package io.madeleine.mpi.device;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * The first block of every message of the device, EXPRESS. With the 8 bytes of the packet it fills one cache line.
 *
 * <pre>
 *    0  kind (1), 3 unused
 *    4  credits returned to the receiver of this message, in units of {@link #CREDIT_BYTES} (4)
 *    8  context (8); DATA: offset of the fragment in the body, in bytes
 *   16  tag (4); CTS and DATA: identity of the receive operation
 *   20  identity of the send operation; 0 if it expects no answer (4)
 *   24  length of the body in bytes; CTS: how many bytes to send; DATA: length of the fragment (8)
 *   32  the body, if it is not longer than {@link #INLINE_BYTES}
 * </pre>
 *
 * <p>Threading: without state.
 */
final class Header {
    static final int BYTES = 56;
    static final int INLINE_OFFSET = 32;
    static final int INLINE_BYTES = BYTES - INLINE_OFFSET;
    static final int CREDIT_BYTES = 64;

    /** A message with its body; the sender has paid credits for it. */
    static final byte EAGER = 1;

    /** As EAGER; the sender waits for an ACK, which is sent when the message is matched. */
    static final byte EAGER_SYNCHRONOUS = 2;

    /** A request to send. */
    static final byte REQUEST_TO_SEND = 3;

    /** The request to send is matched: send. */
    static final byte CLEAR_TO_SEND = 4;

    /** A fragment of the body that was announced by a request to send. */
    static final byte DATA = 5;

    /** A synchronous message is matched. */
    static final byte ACKNOWLEDGE = 6;

    /** Credits only. */
    static final byte CREDIT = 7;

    /** The sender wants to cancel the message with this context, tag and identity. */
    static final byte CANCEL = 8;

    /** The answer to CANCEL: the length field is 1 if the message was cancelled, 0 if it had been matched. */
    static final byte CANCEL_ANSWER = 9;

    /**
     * Stands for a message of a collective operation that has failed: the identity field is the rank where it failed
     * first, the length field the error class.
     */
    static final byte FAILURE = 10;

    /**
     * The last message of a process that leaves since MPI could not end in order; the length field is the error class.
     */
    static final byte LEAVING = 11;

    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    private Header() {}

    static void write(MemorySegment header, byte kind, int credits, long context, int tag, int sender, long bytes) {
        header.set(INT, 0, kind);
        header.set(INT, 4, credits);
        header.set(LONG, 8, context);
        header.set(INT, 16, tag);
        header.set(INT, 20, sender);
        header.set(LONG, 24, bytes);
    }

    static byte kind(MemorySegment header) {
        return header.get(ValueLayout.JAVA_BYTE, 0);
    }

    static int credits(MemorySegment header) {
        return header.get(INT, 4);
    }

    static long context(MemorySegment header) {
        return header.get(LONG, 8);
    }

    static int tag(MemorySegment header) {
        return header.get(INT, 16);
    }

    static int sender(MemorySegment header) {
        return header.get(INT, 20);
    }

    static long bytes(MemorySegment header) {
        return header.get(LONG, 24);
    }
}
