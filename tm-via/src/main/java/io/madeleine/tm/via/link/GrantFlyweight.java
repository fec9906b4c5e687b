package io.madeleine.tm.via.link;

import io.madeleine.pmm.spi.Blocks;
import java.lang.foreign.MemorySegment;

/**
 * A grant on the wire: memory of the receiver for a stretch of the payload of via/rdma.
 *
 * <pre>
 *   position in the stream (8)   address (8)   key (8)   length (4)   unused (4)
 * </pre>
 *
 * <p>The immediate data of a write names the connection, the grant and the piece of the grant: 16, 8 and 8 bits. A
 * piece ends where the grant or the packet ends.
 *
 * <p>Threading: stateless.
 */
public final class GrantFlyweight {
    static final int BYTES = 32;

    /** Pieces of a grant are numbered modulo this. */
    static final int PIECES = 256;

    /** Grants are named modulo this in immediate data. */
    static final int GRANTS = 256;

    private GrantFlyweight() {}

    static void put(MemorySegment memory, long at, long position, long address, long key, int bytes) {
        memory.set(Blocks.LONG, at, position);
        memory.set(Blocks.LONG, at + 8, address);
        memory.set(Blocks.LONG, at + 16, key);
        memory.set(Blocks.LONG, at + 24, bytes);
    }

    static long position(MemorySegment memory, long at) {
        return memory.get(Blocks.LONG, at);
    }

    static long address(MemorySegment memory, long at) {
        return memory.get(Blocks.LONG, at + 8);
    }

    static long key(MemorySegment memory, long at) {
        return memory.get(Blocks.LONG, at + 16);
    }

    static int bytes(MemorySegment memory, long at) {
        return memory.get(Blocks.INT, at + 24);
    }

    static long immediate(int connection, int grant, int piece) {
        return (connection & 0xFFFFL) << 16 | (grant & 0xFFL) << 8 | piece & 0xFF;
    }

    /** The number of the connection. */
    public static int connection(long immediate) {
        return (int) (immediate >>> 16) & 0xFFFF;
    }

    static int grant(long immediate) {
        return (int) (immediate >>> 8) & 0xFF;
    }

    static int piece(long immediate) {
        return (int) immediate & 0xFF;
    }
}
