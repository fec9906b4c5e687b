package io.madeleine.pmm.spi;

/**
 * The eight bytes before each packet. A message is one packet or several, and the headers delimit it on the wire.
 *
 * <pre>
 *  63    56 55        44 43        32 31                             0
 * +--------+------------+------------+--------------------------------+
 * | flags  |   index    |  sequence  |      payload length, bytes     |
 * +--------+------------+------------+--------------------------------+
 * </pre>
 *
 * <p>The sequence counts the messages of one direction of a connection; the index counts the packets of a message over
 * all links. Both are modulo 4096. {@code FIRST} marks the first packet of a message, which is always on the primary
 * link; {@code LAST} marks its last packet, on any link. With {@code LAST}, sequence and index show whether the whole
 * message has arrived. A header is never 0 nor negative.
 */
public final class PacketHeader {
    /** Set in every header, so that no header is 0. */
    public static final int PRESENT = 1;

    /** The first packet of its message. */
    public static final int FIRST = 2;

    /** The last packet of its message. */
    public static final int LAST = 4;

    /** The sender aborted the message; set together with {@link #LAST}, in a packet without payload. */
    public static final int ABORT = 8;

    /** The longest payload of one packet. */
    public static final int MAX_PAYLOAD_BYTES = 1 << 30;

    /** The size of a header in bytes. */
    public static final int BYTES = 8;

    private static final int COUNTER_MASK = 0xFFF;
    private static final int KNOWN_FLAGS = PRESENT | FIRST | LAST | ABORT;

    private PacketHeader() {}

    /** Makes a header; takes the counters modulo 4096 and sets {@link #PRESENT}. */
    public static long of(int payloadBytes, int sequence, int index, int flags) {
        return (long) (flags | PRESENT) << 56
                | (long) (index & COUNTER_MASK) << 44
                | (long) (sequence & COUNTER_MASK) << 32
                | payloadBytes;
    }

    /** The length of the payload in bytes. */
    public static int payloadBytes(long header) {
        return (int) header;
    }

    /** The number of the message, modulo 4096. */
    public static int sequence(long header) {
        return (int) (header >>> 32) & COUNTER_MASK;
    }

    /** The number of the packet in its message, modulo 4096. */
    public static int index(long header) {
        return (int) (header >>> 44) & COUNTER_MASK;
    }

    /** Whether any of the given flags is set. */
    public static boolean has(long header, int flags) {
        return ((int) (header >>> 56) & flags) != 0;
    }

    /** Whether a header's counter equals this count modulo 4096. */
    public static boolean isCount(int headerCounter, int count) {
        return headerCounter == (count & COUNTER_MASK);
    }

    /** By how much, modulo 4096, a header's counter exceeds this count. */
    public static int countsBetween(int count, int headerCounter) {
        return (headerCounter - count) & COUNTER_MASK;
    }

    /** Turns the header of an end mark into that of an abort mark. */
    public static long aborted(long header) {
        return header | (long) ABORT << 56;
    }

    /**
     * Whether this is a possible header: known flags, a length within bounds. Check every header that comes from
     * outside.
     */
    public static boolean isValid(long header) {
        int flags = (int) (header >>> 56);
        int payloadBytes = (int) header;
        return (flags & PRESENT) != 0
                && (flags & ~KNOWN_FLAGS) == 0
                && payloadBytes >= 0
                && payloadBytes <= MAX_PAYLOAD_BYTES
                && ((flags & ABORT) == 0 || payloadBytes == 0);
    }

    /** Describes a header for error messages. */
    public static String describe(long header) {
        return "packet " + index(header) + " of message " + sequence(header) + ", " + payloadBytes(header) + " bytes"
                + (has(header, FIRST) ? ", first" : "")
                + (has(header, LAST) ? ", last" : "")
                + (has(header, ABORT) ? ", abort" : "");
    }
}
