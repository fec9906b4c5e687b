package io.madeleine.nexus;

import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * The layout of a request on a channel. All numbers are little-endian.
 *
 * <pre>
 *  0        4          8         12        16              FIRST            16+inline
 *  +--------+----------+---------+---------+---- inline ----+----- inline ----+ bulk | bulk | ...
 *  | bulks  | endpoint | handler | inline  |  arguments     |   if longer     |
 *  +--------+----------+---------+---------+----------------+-----------------+
 *  \______________ one block, SAFER/EXPRESS ________________/\_SAFER/EXPRESS_/ \ a block each, CHEAPER /
 * </pre>
 *
 * <p>The first block has a fixed size, so that a small request is one block. An argument of {@link #BULK_BYTES} or more is
 * a block of its own, referenced and never staged; inline stands only its length. The last bulk block is
 * CHEAPER/CHEAPER; those before it are CHEAPER/EXPRESS, since a handler looks at them before it asks for the next.
 *
 * <p>Threading: stateless.
 */
final class Wire {
    static final int BULK_COUNT_OFFSET = 0;
    static final int ENDPOINT_OFFSET = 4;
    static final int HANDLER_OFFSET = 8;
    static final int INLINE_OFFSET = 12;
    static final int HEADER_BYTES = 16;

    /** With the eight bytes of a packet's header this is less than a cache line. */
    static final int FIRST_BYTES = 40;

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
