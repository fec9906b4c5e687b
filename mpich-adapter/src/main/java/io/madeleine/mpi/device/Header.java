package io.madeleine.mpi.device;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * The beginning of every message of the device. An eager message that expects no answer has the first 16 bytes alone,
 * and its body follows; so a message of 8 bytes takes half a cache line, the 8 bytes of its packet included. All others
 * have 32 bytes, in two blocks of 16.
 *
 * <pre>
 *    0  kind (4 bits); EAGER: the length of the body in bytes (21 bits), and credits returned to the receiver of
 *       this message, in units of {@link #CREDIT_BYTES} (7 bits)
 *    4  tag (4); CTS and DATA: identity of the receive operation
 *    8  context (8); DATA: offset of the fragment in the body, in bytes
 *   16  credits, as above (4)
 *   20  identity of the send operation; 0 if it expects no answer (4)
 *   24  length of the body in bytes; CTS: how many bytes to send; DATA: length of the fragment (8)
 * </pre>
 *
 * <p>Threading: without state.
 */
final class Header {
    /** All of it, but for an eager message: twice {@link #EAGER_BYTES}. */
    static final int BYTES = 32;

    /** The header of an eager message, and the first block of every message. */
    static final int EAGER_BYTES = 16;

    /** The longest body of an eager message. */
    static final int MOST_EAGER_BYTES = (1 << 21) - 1;

    /** The most credits that an eager message returns. */
    static final int MOST_EAGER_CREDITS = 127;

    static final int CREDIT_BYTES = 64;

    /** A message with its body that expects no answer; the sender has paid credits for it. */
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

    private static final int KIND_MASK = 15;
    private static final int LENGTH_SHIFT = 4;
    private static final int CREDIT_SHIFT = 25;
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    private Header() {}

    /** Writes the header of an eager message. */
    static void writeEager(MemorySegment header, int credits, long context, int tag, long bytes) {
        header.set(INT, 0, EAGER | (int) bytes << LENGTH_SHIFT | credits << CREDIT_SHIFT);
        header.set(INT, 4, tag);
        header.set(LONG, 8, context);
    }

    /** Writes the header of any other message. */
    static void write(MemorySegment header, byte kind, int credits, long context, int tag, int sender, long bytes) {
        header.set(INT, 0, kind);
        header.set(INT, 4, tag);
        header.set(LONG, 8, context);
        header.set(INT, 16, credits);
        header.set(INT, 20, sender);
        header.set(LONG, 24, bytes);
    }

    static byte kind(MemorySegment header) {
        return (byte) (header.get(INT, 0) & KIND_MASK);
    }

    /** How long the header of a message of this kind is. */
    static int bytesOf(byte kind) {
        return kind == EAGER ? EAGER_BYTES : BYTES;
    }

    static int credits(MemorySegment header) {
        return kind(header) == EAGER ? header.get(INT, 0) >>> CREDIT_SHIFT : header.get(INT, EAGER_BYTES);
    }

    static long context(MemorySegment header) {
        return header.get(LONG, 8);
    }

    static int tag(MemorySegment header) {
        return header.get(INT, 4);
    }

    static int sender(MemorySegment header) {
        return kind(header) == EAGER ? 0 : header.get(INT, 20);
    }

    static long bytes(MemorySegment header) {
        return kind(header) == EAGER ? header.get(INT, 0) >>> LENGTH_SHIFT & MOST_EAGER_BYTES : header.get(LONG, 24);
    }
}
