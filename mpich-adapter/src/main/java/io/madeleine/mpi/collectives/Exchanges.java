package io.madeleine.mpi.collectives;

import io.madeleine.mpi.device.Payload;
import java.util.function.IntFunction;

/**
 * Barrier, allgather and alltoall.
 *
 * <p>Threading: without state.
 */
public final class Exchanges {
    /** Up to this size of the result, allgather uses few long steps, beyond it a ring. */
    static final long LONG_ALLGATHER_BYTES = 80 << 10;

    /** Up to this block size, and from this number of members on, alltoall uses Bruck's algorithm. */
    static final long SHORT_BLOCK_BYTES = 256;

    static final int BRUCK_RANKS = 8;

    /** Up to this block size alltoall starts all its transfers at once. */
    static final long AT_ONCE_BYTES = 32 << 10;

    private Exchanges() {}

    /**
     * Barrier by dissemination (Hensgen, Finkel and Manber: <i>Two algorithms for barrier synchronization</i>, 1988):
     * ceil(log2 n) messages without data per member.
     */
    public static void barrier(Schedule schedule) {
        int size = schedule.size();
        Area nothing = Area.allocate(0);
        for (int distance = 1; distance < size; distance *= 2) {
            schedule.receive((schedule.rank() - distance + size) % size, nothing);
            schedule.send((schedule.rank() + distance) % size, nothing);
            schedule.next();
        }
    }

    // ---- allgather

    /**
     * Allgather of blocks of equal size: recursive doubling for a power of two of members, Bruck's algorithm for other
     * numbers, a ring for long data (Thakur, Rabenseifner and Gropp, 2005, section 3.1).
     *
     * @param all the blocks of all members; this member's is in its place already
     */
    public static void allgather(Schedule schedule, Area all, long block) {
        int size = schedule.size();
        if (all.bytes() > LONG_ALLGATHER_BYTES) {
            ring(schedule, index -> all.slice(index * block, block));
        } else if (Integer.bitCount(size) == 1) {
            doubling(schedule, all, block);
        } else {
            bruck(schedule, all, block);
        }
    }

    private static void ring(Schedule schedule, IntFunction<Area> block) {
        int size = schedule.size();
        int rank = schedule.rank();
        for (int step = 0; step < size - 1; step++) {
            schedule.receive((rank - 1 + size) % size, block.apply(Math.floorMod(rank - step - 1, size)));
            schedule.send((rank + 1) % size, block.apply(Math.floorMod(rank - step, size)));
            schedule.next();
        }
    }

    private static void doubling(Schedule schedule, Area all, long block) {
        int rank = schedule.rank();
        for (int distance = 1; distance < schedule.size(); distance *= 2) {
            int first = rank & -distance;
            int other = first ^ distance;
            schedule.receive(rank ^ distance, all.slice(other * block, distance * block));
            schedule.send(rank ^ distance, all.slice(first * block, distance * block));
            schedule.next();
        }
    }

    /** Bruck, Ho, Kipnis, Upfal and Weathersby: Efficient algorithms for all-to-all communications, 1997. */
    private static void bruck(Schedule schedule, Area all, long block) {
        int size = schedule.size();
        int rank = schedule.rank();
        Area turned = Area.allocate(all.bytes());
        schedule.then(() -> turned.copyFrom(all.slice(rank * block, block)));
        schedule.next();
        for (int distance = 1; distance < size; distance *= 2) {
            long length = Math.min(distance, size - distance) * block;
            schedule.receive((rank + distance) % size, turned.slice(distance * block, length));
            schedule.send((rank - distance + size) % size, turned.slice(0, length));
            schedule.next();
        }
        schedule.then(() -> {
            long first = (size - rank) * block;
            all.slice(rank * block, first).copyFrom(turned.slice(0, first));
            all.copyFrom(turned.slice(first, rank * block));
        });
        schedule.next();
    }

    /** Allgather of blocks of different sizes on a ring; this member's block is in its place already. */
    public static void allgatherBlocks(Schedule schedule, IntFunction<Payload> block) {
        int size = schedule.size();
        int rank = schedule.rank();
        for (int step = 0; step < size - 1; step++) {
            schedule.receive((rank - 1 + size) % size, block.apply(Math.floorMod(rank - step - 1, size)));
            schedule.send((rank + 1) % size, block.apply(Math.floorMod(rank - step, size)));
            schedule.next();
        }
    }

    // ---- alltoall

    /**
     * Alltoall of blocks of equal size: Bruck's algorithm for short blocks and many members, all transfers at once for
     * medium ones, in pairs for long ones (Thakur, Rabenseifner and Gropp, 2005, section 3.2). This member takes
     * its own
     * block by itself.
     */
    public static void alltoall(Schedule schedule, Area out, Area in, long block) {
        int size = schedule.size();
        if (block <= SHORT_BLOCK_BYTES && size >= BRUCK_RANKS) {
            bruckAlltoall(schedule, out, in, block);
        } else {
            boolean isInPairs = block > AT_ONCE_BYTES;
            for (int step = 1; step < size; step++) {
                int to = (schedule.rank() + step) % size;
                int from = (schedule.rank() - step + size) % size;
                schedule.receive(from, in.slice(from * block, block));
                schedule.send(to, out.slice(to * block, block));
                if (isInPairs) {
                    schedule.next();
                }
            }
            schedule.next();
        }
    }

    private static void bruckAlltoall(Schedule schedule, Area out, Area in, long block) {
        int size = schedule.size();
        int rank = schedule.rank();
        Area turned = Area.allocate(out.bytes());
        Area leaving = Area.allocate(out.bytes());
        Area coming = Area.allocate(out.bytes());
        schedule.then(() -> {
            long first = (size - rank) * block;
            turned.copyFrom(out.slice(rank * block, first));
            turned.slice(first, rank * block).copyFrom(out.slice(0, rank * block));
        });
        for (int distance = 1; distance < size; distance *= 2) {
            int bit = distance;
            int count = (int) java.util.stream.IntStream.range(0, size)
                    .filter(i -> (i & bit) != 0)
                    .count();
            schedule.then(() -> pick(turned, leaving, block, bit, size, true));
            schedule.next();
            schedule.receive((rank - distance + size) % size, coming.slice(0, count * block));
            schedule.send((rank + distance) % size, leaving.slice(0, count * block));
            schedule.then(() -> pick(turned, coming, block, bit, size, false));
        }
        schedule.then(() -> {
            for (int i = 0; i < size; i++) {
                int from = Math.floorMod(rank - i, size);
                in.slice(from * block, block).copyFrom(turned.slice(i * block, block));
            }
        });
        schedule.next();
    }

    /** Copies the blocks whose number has this bit to a dense sequence, or back. */
    private static void pick(Area spread, Area dense, long block, int bit, int size, boolean toDense) {
        long at = 0;
        for (int i = 0; i < size; i++) {
            if ((i & bit) != 0) {
                Area one = spread.slice(i * block, block);
                Area packed = dense.slice(at, block);
                if (toDense) {
                    packed.copyFrom(one);
                } else {
                    one.copyFrom(packed);
                }
                at += block;
            }
        }
    }

    /**
     * Alltoall of blocks of different sizes and types: all transfers at once, each member beginning with its neighbour.
     * Blocks without data are not sent. This member takes its own block by itself.
     */
    public static void alltoallBlocks(Schedule schedule, IntFunction<Payload> out, IntFunction<Payload> in) {
        int size = schedule.size();
        for (int step = 1; step < size; step++) {
            int to = (schedule.rank() + step) % size;
            int from = (schedule.rank() - step + size) % size;
            Payload coming = in.apply(from);
            Payload leaving = out.apply(to);
            if (coming.bytes() > 0) {
                schedule.receive(from, coming);
            }
            if (leaving.bytes() > 0) {
                schedule.send(to, leaving);
            }
        }
        schedule.next();
    }

    /** Gathers blocks of different sizes at the root. */
    public static void gatherBlocks(Schedule schedule, Payload own, IntFunction<Payload> all, int root) {
        if (schedule.rank() != root) {
            if (own.bytes() > 0) {
                schedule.send(root, own);
            }
        } else {
            for (int from = 0; from < schedule.size(); from++) {
                Payload block = all.apply(from);
                if (from != root && block.bytes() > 0) {
                    schedule.receive(from, block);
                }
            }
        }
        schedule.next();
    }

    /** Scatters blocks of different sizes from the root. */
    public static void scatterBlocks(Schedule schedule, IntFunction<Payload> all, Payload own, int root) {
        if (schedule.rank() != root) {
            if (own.bytes() > 0) {
                schedule.receive(root, own);
            }
        } else {
            for (int to = 0; to < schedule.size(); to++) {
                Payload block = all.apply(to);
                if (to != root && block.bytes() > 0) {
                    schedule.send(to, block);
                }
            }
        }
        schedule.next();
    }
}
