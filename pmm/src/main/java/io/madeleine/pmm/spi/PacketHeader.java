package io.madeleine.pmm.spi;

/**
 * The eight bytes before each packet: a message is one packet or several, and these delimit it on the wire.
 *
 * <pre>
 *  63    56 55        44 43        32 31                             0
 * +--------+------------+------------+--------------------------------+
 * | flags  |   index    |  sequence  |      payload length, bytes     |
 * +--------+------------+------------+--------------------------------+
 * </pre>
 *
 * The sequence counts the messages of a connection and direction, the index the packets of a message over all links,
 * both modulo 4096. {@code FIRST} stands on a message's first packet, always on the primary link; {@code LAST} on its
 * last, on any link: with it, sequence and index say whether everything was there. A header is never 0 nor negative.
 */
public final class PacketHeader {
    /** Stands in every header, so that none is 0. */
    public static final int PRESENT = 1;

    /** The first packet of its message. */
    public static final int FIRST = 2;

    /** The last packet of its message. */
    public static final int LAST = 4;

    /** The sender gave the message up; goes with {@link #LAST} and no payload. */
    public static final int ABORT = 8;

    /** The longest payload of one packet. */
    public static final int MAX_PAYLOAD_BYTES = 1 << 30;

    /** How many bytes a header takes. */
    public static final int BYTES = 8;

    private static final int COUNTER_MASK = 0xFFF;
    private static final int KNOWN_FLAGS = PRESENT | FIRST | LAST | ABORT;

    private PacketHeader() {}

    /** A header with the given fields; the counters are taken modulo 4096, {@link #PRESENT} is added. */
    public static long of(int payloadBytes, int sequence, int index, int flags) {
        return (long) (flags | PRESENT) << 56
                | (long) (index & COUNTER_MASK) << 44
                | (long) (sequence & COUNTER_MASK) << 32
                | payloadBytes;
    }

    /** How many bytes of payload follow. */
    public static int payloadBytes(long header) {
        return (int) header;
    }

    /** The message's number, modulo 4096. */
    public static int sequence(long header) {
        return (int) (header >>> 32) & COUNTER_MASK;
    }

    /** The packet's number within its message, modulo 4096. */
    public static int index(long header) {
        return (int) (header >>> 44) & COUNTER_MASK;
    }

    /** Whether any of the given flags is set. */
    public static boolean has(long header, int flags) {
        return ((int) (header >>> 56) & flags) != 0;
    }

    /** Whether the counter of a header stands for this count. */
    public static boolean isCount(int headerCounter, int count) {
        return headerCounter == (count & COUNTER_MASK);
    }

    /** How far, modulo 4096, the counter of a header is beyond this count. */
    public static int countsBetween(int count, int headerCounter) {
        return (headerCounter - count) & COUNTER_MASK;
    }

    /** The header of an end mark, turned into that of an abort mark. */
    public static long aborted(long header) {
        return header | (long) ABORT << 56;
    }

    /** Whether this can be a header: known flags, a length in bounds. What comes from outside is asked first. */
    public static boolean isValid(long header) {
        int flags = (int) (header >>> 56);
        int payloadBytes = (int) header;
        return (flags & PRESENT) != 0
                && (flags & ~KNOWN_FLAGS) == 0
                && payloadBytes >= 0
                && payloadBytes <= MAX_PAYLOAD_BYTES
                && ((flags & ABORT) == 0 || payloadBytes == 0);
    }

    /** A header in words, for error messages. */
    public static String describe(long header) {
        return "packet " + index(header) + " of message " + sequence(header) + ", " + payloadBytes(header) + " bytes"
                + (has(header, FIRST) ? ", first" : "")
                + (has(header, LAST) ? ", last" : "")
                + (has(header, ABORT) ? ", abort" : "");
    }
}
