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
 * <p>A piece of a grant ends where the grant or the packet ends. It has one part or several, each a write. The
 * immediate data of a write names the connection, the grant and the part, and says whether more parts follow:
 *
 * <pre>
 *   connection (16 bits)   grant (8)   more follow (1)   part (7)
 * </pre>
 *
 * <p>The parts of a grant are numbered one after the other, across its pieces. A piece has landed when all its parts
 * have landed, up to the one that says that no more follow. The number of its parts is limited so that no two parts
 * that were not taken have the same number, whatever packets are under way.
 *
 * <p>Threading: stateless.
 */
public final class GrantFlyweight {
    static final int BYTES = 32;

    /** Parts of a grant are numbered modulo this. */
    static final int PARTS = 128;

    /** Grants are named modulo this in immediate data. */
    static final int GRANTS = 256;

    private static final int MORE = PARTS;

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

    static long immediate(int connection, int grant, int part, boolean moreFollow) {
        return (connection & 0xFFFFL) << 16
                | (grant & 0xFFL) << 8
                | (moreFollow ? MORE : 0)
                | Math.floorMod(part, PARTS);
    }

    /** The number of the connection. */
    public static int connection(long immediate) {
        return (int) (immediate >>> 16) & 0xFFFF;
    }

    static int grant(long immediate) {
        return (int) (immediate >>> 8) & 0xFF;
    }

    static int part(long immediate) {
        return (int) immediate & PARTS - 1;
    }

    static boolean moreFollow(long immediate) {
        return (immediate & MORE) != 0;
    }
}
