package io.madeleine.tm.via.port;

import io.madeleine.pmm.spi.Blocks;
import java.lang.foreign.MemorySegment;

/**
 * The head of every message between two endpoints; numbers are little-endian.
 *
 * <pre>
 *   0        4                 8                16               24          28        30        32
 *   +--------+-----------------+----------------+----------------+-----------+---------+---------+--------
 *   | to     | kind            | token          | word           | packets   | headers | tagged  | payload
 *   +--------+-----------------+----------------+----------------+-----------+---------+---------+--------
 * </pre>
 *
 * <p>"To" is the number that the receiver gave the connection, and "token" the random number that it gave with it: a
 * message with another token does not count. "Word" depends on the kind. "Packets", "headers" and "tagged" return
 * credits of via/pool, via/rdma and via/registered: how many the sender of this message has released since the
 * connection began, modulo 2^32 and 2^16.
 *
 * <p>Threading: stateless.
 */
public final class MessageFlyweight {
    /** The size of the head in bytes. */
    public static final int BYTES = 32;

    /** The number to which an {@link #OPEN} goes. */
    public static final int NO_CONNECTION = -1;

    /** Kind: opens a line. The word is the sender's token; the payload is an {@link Opening}. */
    public static final int OPEN = 1;

    /** Kind: accepts a line. The word is the sender's token; the payload is an {@link Opening}. */
    public static final int ACCEPT = 2;

    /** Kind: a frame of the handshake. */
    public static final int FRAME = 3;

    /** Kind: a packet of via/pool. The word is the packet's header. */
    public static final int PACKET = 4;

    /** Kind: a packet of via/rdma, without its payload. The word is the packet's header. */
    public static final int HEADER = 5;

    /** Kind: credits alone. */
    public static final int CREDIT = 6;

    /** Kind: memory for the next payload of via/rdma. The word is the number of the first grant. */
    public static final int GRANT = 7;

    /** Kind: takes grants back that have not been used. The word is the number of the revocation. */
    public static final int REVOKE = 8;

    /**
     * Kind: answers {@link #REVOKE}. The word has the number of the revocation in its upper half, and in its lower half
     * how many grants the sender has used.
     */
    public static final int REVOKED = 9;

    /** Kind: nothing more will be sent. */
    public static final int FINISH = 10;

    /** Kind: the sender's end is closed. The word is 1 if it was given up. */
    public static final int END = 11;

    /** Kind: asks to attach an export, whose key is the token. The word is the sender's number of the attachment. */
    public static final int ATTACH = 12;

    /** Kind: answers {@link #ATTACH}, with the same token and word; see the room remote for its payload. */
    public static final int ATTACHED = 13;

    /** Kind: answers {@link #ATTACH}, with the same token and word: there is no such export. */
    public static final int REFUSED = 14;

    /** Kind: the sender begins no more operations on the attachment, and none is under way. */
    public static final int DETACH = 15;

    /** Kind: the export is revoked. {@link #DETACH} answers it. */
    public static final int WITHDRAW = 16;

    /** Kind: a packet of via/registered; its payload follows in tagged messages. The word is the packet's header. */
    public static final int ANNOUNCE = 17;

    /**
     * Kind: pieces of via/rdma have landed, of a provider without immediate data. The word is their number; the payload
     * is what the immediate data would be, 4 bytes each.
     */
    public static final int LANDED = 18;

    private static final int TO_OFFSET = 0;
    private static final int KIND_OFFSET = 4;
    private static final int TOKEN_OFFSET = 8;
    private static final int WORD_OFFSET = 16;
    private static final int PACKETS_OFFSET = 24;
    private static final int HEADERS_OFFSET = 28;

    private MessageFlyweight() {}

    /** Writes the parts that say where the message goes. */
    public static void address(MemorySegment memory, long at, int to, int kind, long token, long word) {
        memory.set(Blocks.INT, at + TO_OFFSET, to);
        memory.set(Blocks.INT, at + KIND_OFFSET, kind);
        memory.set(Blocks.LONG, at + TOKEN_OFFSET, token);
        memory.set(Blocks.LONG, at + WORD_OFFSET, word);
    }

    /** Writes the credits. */
    public static void credits(MemorySegment memory, long at, int packets, int headers, int tagged) {
        memory.set(Blocks.INT, at + PACKETS_OFFSET, packets);
        memory.set(Blocks.INT, at + HEADERS_OFFSET, tagged << Short.SIZE | headers & 0xFFFF);
    }

    /** The receiver's number of the connection. */
    public static int to(MemorySegment memory, long at) {
        return memory.get(Blocks.INT, at + TO_OFFSET);
    }

    /** The kind. */
    public static int kind(MemorySegment memory, long at) {
        return memory.get(Blocks.INT, at + KIND_OFFSET);
    }

    /** The token. */
    public static long token(MemorySegment memory, long at) {
        return memory.get(Blocks.LONG, at + TOKEN_OFFSET);
    }

    /** The word. */
    public static long word(MemorySegment memory, long at) {
        return memory.get(Blocks.LONG, at + WORD_OFFSET);
    }

    /** The credits for packets. */
    public static int packets(MemorySegment memory, long at) {
        return memory.get(Blocks.INT, at + PACKETS_OFFSET);
    }

    /** The credits for headers. */
    public static int headers(MemorySegment memory, long at) {
        return memory.get(Blocks.INT, at + HEADERS_OFFSET) & 0xFFFF;
    }

    /** The credits for tagged messages and their announcements. */
    public static int tagged(MemorySegment memory, long at) {
        return memory.get(Blocks.INT, at + HEADERS_OFFSET) >>> Short.SIZE;
    }
}
