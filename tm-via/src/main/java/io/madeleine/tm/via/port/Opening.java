package io.madeleine.tm.via.port;

import io.madeleine.pmm.spi.Blocks;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Optional;

/**
 * What each end says of itself when a line is opened.
 *
 * <pre>
 *   number (4)   packets (4)   headers (4)   tagged (4)   piece (4)   length of the name (4)   name
 * </pre>
 *
 * <p>Threading: immutable.
 *
 * @param number the sender's number of the connection
 * @param packetCount how many packets of via/pool the sender has receives for
 * @param headerCount how many packets of via/rdma the sender has room for
 * @param taggedCount how many tagged messages and announcements of via/registered the sender has room for
 * @param pieceBytes the longest tagged message that the sender wants
 * @param name the name of the sender's endpoint
 */
@SuppressWarnings("ArrayRecordComponent") // openings are never compared
public record Opening(int number, int packetCount, int headerCount, int taggedCount, int pieceBytes, byte[] name) {
    private static final int FIXED_BYTES = 24;
    private static final int MAX_NAME_BYTES = 512;
    private static final int MAX_COUNT = 1 << 16;
    private static final int MAX_PIECE_BYTES = 1 << 24;

    /** The longest opening. */
    public static final int MAX_BYTES = FIXED_BYTES + MAX_NAME_BYTES;

    /** Writes it; returns its length. */
    public int write(MemorySegment memory, long at) {
        memory.set(Blocks.INT, at, number);
        memory.set(Blocks.INT, at + 4, packetCount);
        memory.set(Blocks.INT, at + 8, headerCount);
        memory.set(Blocks.INT, at + 12, taggedCount);
        memory.set(Blocks.INT, at + 16, pieceBytes);
        memory.set(Blocks.INT, at + 20, name.length);
        MemorySegment.copy(name, 0, memory, ValueLayout.JAVA_BYTE, at + FIXED_BYTES, name.length);
        return FIXED_BYTES + name.length;
    }

    /** Reads the opening of a peer that is not trusted; empty if it is not one. */
    public static Optional<Opening> read(MemorySegment memory, long at, int bytes) {
        if (bytes < FIXED_BYTES) {
            return Optional.empty();
        }
        int nameBytes = memory.get(Blocks.INT, at + 20);
        int packets = memory.get(Blocks.INT, at + 4);
        int headers = memory.get(Blocks.INT, at + 8);
        int tagged = memory.get(Blocks.INT, at + 12);
        int piece = memory.get(Blocks.INT, at + 16);
        if (nameBytes < 1
                || nameBytes > MAX_NAME_BYTES
                || bytes != FIXED_BYTES + nameBytes
                || packets < 1
                || packets > MAX_COUNT
                || headers < 0
                || headers > MAX_COUNT
                || tagged < 0
                || tagged > MAX_COUNT
                || piece < 0
                || piece > MAX_PIECE_BYTES) {
            return Optional.empty();
        }
        byte[] name = memory.asSlice(at + FIXED_BYTES, nameBytes).toArray(ValueLayout.JAVA_BYTE);
        return Optional.of(new Opening(memory.get(Blocks.INT, at), packets, headers, tagged, piece, name));
    }
}
