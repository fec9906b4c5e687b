package io.madeleine.nexus;

import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * The layout of a request on a channel. All numbers are little-endian.
 *
 * <pre>
 *  0          4         8       12                FIRST             12+inline
 *  +----------+---------+-------+----- inline -----+----- inline -----+ bulk | bulk | ...
 *  | endpoint | handler | sizes |    arguments     |    if longer     |
 *  +----------+---------+-------+------------------+------------------+
 *  \______________ one block, SAFER/EXPRESS _______/\_ SAFER/EXPRESS _/ \ a block each, CHEAPER /
 * </pre>
 *
 * <p>Beyond {@link #PIECE_BYTES} the inline arguments come in several blocks, each at most as long as all before it, so that a
 * receiver takes memory for what is there and not for what is announced.
 *
 * <p>The first block has a fixed size, so that a small request is one block: as few bytes as a request with an argument of eight
 * needs, since with its packet's header it fills half a cache line of a network in shared memory, and more bytes take longer
 * there. {@code sizes} is the number of inline bytes, with {@link #HAS_BULKS} if bulk blocks follow. The last four inline bytes are then
 * where the length of the only one stands among the arguments; if there are several, they are their number, negated, and
 * before it stands where the length of each is.
 *
 * <p>Arrays, strings and segments have their length before them, in four bytes. One of {@link #BULK_BYTES} or more is a block
 * of its own, referenced and never staged; inline stands only its length, in eight bytes, of which the first four are negative:
 * the complement of the upper half. The last bulk block is CHEAPER/CHEAPER; those before it are CHEAPER/EXPRESS, since a
 * handler looks at them before it asks for the next.
 *
 * <p>Threading: stateless.
 */
final class Wire {
    static final int ENDPOINT_OFFSET = 0;
    static final int HANDLER_OFFSET = 4;
    static final int SIZES_OFFSET = 8;
    static final int HEADER_BYTES = 12;

    /** In the word of sizes: bulk blocks follow. */
    static final int HAS_BULKS = 1 << 31;

    /** With the eight bytes of a packet's header this is half a cache line. */
    static final int FIRST_BYTES = 24;

    /** Where the first piece of long inline arguments ends at the latest. */
    private static final int PIECE_BYTES = 1 << 16;

    /** From this size on an argument is a block of its own. */
    static final long BULK_BYTES = 1024;

    /** How many bulk arguments a request may have. */
    static final int MAX_BULKS = 1 << 16;

    /** The endpoint every context has, for the adapter's own requests. */
    static final int SYSTEM_ENDPOINT = 0;

    static final ValueLayout.OfByte BYTE = ValueLayout.JAVA_BYTE;
    static final ValueLayout.OfShort SHORT = ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    static final ValueLayout.OfChar CHAR = ValueLayout.JAVA_CHAR_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    private Wire() {}

    /** Where the block of inline bytes ends that begins at {@code offset}. */
    static int pieceEnd(int offset, int end) {
        return (int) Math.min(end, Math.max(PIECE_BYTES, 2L * offset));
    }

    /** The length of a large argument as it stands among the small ones; negative or too small if there is none. */
    static long bulkBytes(Bytes inline, int at) {
        int first = inline.getInt(at);
        return first >= 0
                ? 0
                : (long) ~first << Integer.SIZE | Integer.toUnsignedLong(inline.getInt(at + Integer.BYTES));
    }

    /** The number of a name on the wire. */
    static int id(String name) {
        return Names.number(name);
    }
}
