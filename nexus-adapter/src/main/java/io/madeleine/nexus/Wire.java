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
 * <p>The first block has a fixed size, so that a small request is one block: as few bytes as a request with an argument of eight
 * needs, since with its packet's header it fills half a cache line of a network in shared memory, and more bytes take longer
 * there. {@code sizes} is the number of inline bytes, with {@link #HAS_BULKS} if bulk blocks follow, whose number are the
 * last four inline bytes then.
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

    /** The number of a name on the wire. */
    static int id(String name) {
        return Names.number(name);
    }
}
