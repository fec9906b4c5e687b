package io.madeleine.nexus.wire;

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
 * <p>The first block has a fixed size, so that a small request is one block: up to 44 bytes of arguments. Together with
 * the packet header it fills a cache line of a shared-memory network, where more bytes take longer. (Half a line takes
 * as long, and a request that needs a second block half as long again.)
 *
 * <p>{@code sizes} is the number of inline bytes; {@link #HAS_BULKS} is set in it if bulk blocks follow. The inline
 * bytes then end with a table of the offsets at which the lengths of the bulk arguments stand: for a single bulk just
 * its offset (4 bytes), for several all offsets (4 bytes each) and their negated number (4 bytes).
 *
 * <p>Inline arguments beyond {@link #PIECE_BYTES} are split into several blocks, each at most as long as all bytes
 * before it. So a receiver allocates memory for bytes that have arrived, not for bytes that are announced.
 *
 * <p>Arrays, strings and segments follow their length, in four bytes. One of {@link #BULK_BYTES} or more is a block of
 * its own, referenced and never staged; only its length stands inline, in eight bytes, of which the first four are the
 * complement of the upper half, and so negative. The last bulk block is CHEAPER/CHEAPER. Those before it are
 * CHEAPER/EXPRESS, because a handler may look at one before it takes the next.
 *
 * <p>Threading: stateless.
 */
public final class RequestLayout {
    public static final int ENDPOINT_OFFSET = 0;
    public static final int HANDLER_OFFSET = 4;
    public static final int SIZES_OFFSET = 8;
    public static final int HEADER_BYTES = 12;

    /** Flag in {@code sizes}: bulk blocks follow. */
    public static final int HAS_BULKS = 1 << 31;

    /** With the eight bytes of a packet header this is a cache line. */
    public static final int FIRST_BYTES = 56;

    /** The largest end of the first piece of long inline arguments. */
    private static final int PIECE_BYTES = 1 << 16;

    /** From this size on an argument is a block of its own. */
    public static final long BULK_BYTES = 1024;

    /** The largest number of bulk arguments of a request. */
    public static final int MAX_BULKS = 1 << 16;

    /** The endpoint for the adapter's own requests, which every context has. */
    public static final int SYSTEM_ENDPOINT = 0;

    public static final ValueLayout.OfByte BYTE = ValueLayout.JAVA_BYTE;
    public static final ValueLayout.OfShort SHORT = ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    public static final ValueLayout.OfChar CHAR = ValueLayout.JAVA_CHAR_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    public static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    public static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    private RequestLayout() {}

    /** The end of the block of inline bytes that begins at {@code offset}. */
    public static int pieceEnd(int offset, int end) {
        return (int) Math.min(end, Math.max(PIECE_BYTES, 2L * offset));
    }

    /**
     * The length of a large argument that stands at {@code at} among the small ones; less than {@link #BULK_BYTES} if
     * no such length stands there.
     */
    public static long bulkBytes(Bytes inline, int at) {
        int first = inline.getInt(at);
        return first >= 0
                ? 0
                : (long) ~first << Integer.SIZE | Integer.toUnsignedLong(inline.getInt(at + Integer.BYTES));
    }

    /** The number that stands for a name on the wire. */
    public static int id(String name) {
        return Names.number(name);
    }

    /** The number of the endpoint with a name; other endpoints have numbers that are not negative. */
    public static int endpointId(String name) {
        return id(name) | Integer.MIN_VALUE;
    }
}
