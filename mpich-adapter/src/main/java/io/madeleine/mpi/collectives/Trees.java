package io.madeleine.mpi.collectives;

/**
 * Broadcast, gather and scatter along binomial trees and by scattering.
 *
 * <p>Threading: without state.
 */
public final class Trees {
    /** Longer data is broadcast by scattering it and gathering it everywhere, from this number of members on. */
    static final long LONG_BROADCAST_BYTES = 64 << 10;

    static final int LONG_BROADCAST_RANKS = 4;

    /** Longer blocks are gathered and scattered without intermediate stations. */
    static final long LONG_BLOCK_BYTES = 4 << 10;

    private Trees() {}

    // ---- broadcast

    /**
     * Broadcast: along a binomial tree; long data by scatter and allgather on a ring (van de Geijn; Thakur,
     * Rabenseifner
     * and Gropp: <i>Optimization of Collective Communication Operations in MPICH</i>, 2005, section 3.3).
     */
    public static void broadcast(Schedule schedule, Area data, int root) {
        if (data.bytes() >= LONG_BROADCAST_BYTES && schedule.size() >= LONG_BROADCAST_RANKS) {
            scatterAndGather(schedule, data, root);
        } else {
            binomialBroadcast(schedule, data, root);
        }
    }

    private static void binomialBroadcast(Schedule schedule, Area data, int root) {
        int size = schedule.size();
        int relative = (schedule.rank() - root + size) % size;
        int span = subtree(relative, size);
        if (relative != 0) {
            schedule.receive((relative - span + root) % size, data);
            schedule.next();
        }
        for (int child = span / 2; child > 0; child /= 2) {
            if (relative + child < size) {
                schedule.send((relative + child + root) % size, data);
            }
        }
        schedule.next();
    }

    /** The most ranks in the subtree of a member: its lowest set bit; for the root, a power of two above all ranks. */
    static int subtree(int relative, int size) {
        if (relative != 0) {
            return Integer.lowestOneBit(relative);
        }
        int all = 1;
        while (all < size) {
            all *= 2;
        }
        return all;
    }

    private static void scatterAndGather(Schedule schedule, Area data, int root) {
        int size = schedule.size();
        int relative = (schedule.rank() - root + size) % size;
        long block = (data.bytes() + size - 1) / size;
        int span = subtree(relative, size);
        if (relative != 0) {
            schedule.receive((relative - span + root) % size, blocks(data, block, relative, span));
            schedule.next();
        }
        for (int child = span / 2; child > 0; child /= 2) {
            if (relative + child < size) {
                schedule.send((relative + child + root) % size, blocks(data, block, relative + child, child));
            }
        }
        schedule.next();
        int right = (schedule.rank() + 1) % size;
        int left = (schedule.rank() - 1 + size) % size;
        for (int step = 0; step < size - 1; step++) {
            schedule.receive(left, blocks(data, block, Math.floorMod(relative - step - 1, size), 1));
            schedule.send(right, blocks(data, block, Math.floorMod(relative - step, size), 1));
            schedule.next();
        }
    }

    /** Some blocks; those beyond the end of the data are shorter or empty. */
    private static Area blocks(Area data, long block, int first, int count) {
        long from = Math.min(data.bytes(), block * first);
        long to = Math.min(data.bytes(), block * ((long) first + count));
        return data.slice(from, to - from);
    }

    // ---- gather

    /**
     * Gathers blocks of equal size at the root: along a binomial tree; long ones directly.
     *
     * @param own this member's block
     * @param all the blocks of all members; used at the root only, whose own block is in its place already
     */
    public static void gather(Schedule schedule, Area own, Area all, int root) {
        int size = schedule.size();
        long block = own.bytes();
        if (block > LONG_BLOCK_BYTES || size <= 2) {
            if (schedule.rank() != root) {
                schedule.send(root, own);
            } else {
                for (int from = 0; from < size; from++) {
                    if (from != root) {
                        schedule.receive(from, all.slice(from * block, block));
                    }
                }
            }
            schedule.next();
            return;
        }
        int relative = (schedule.rank() - root + size) % size;
        int reach = Math.min(subtree(relative, size), size - relative);
        Area collected = Area.allocate(reach * block);
        schedule.then(() -> collected.copyFrom(own));
        schedule.next();
        for (int child = 1; child < subtree(relative, size) && relative + child < size; child *= 2) {
            int childReach = Math.min(child, size - relative - child);
            schedule.receive((relative + child + root) % size, collected.slice(child * block, childReach * block));
        }
        schedule.next();
        if (relative != 0) {
            schedule.send((relative - subtree(relative, size) + root) % size, collected);
        } else {
            schedule.then(() -> rotate(collected, all, block, root, size));
        }
        schedule.next();
    }

    private static void rotate(Area collected, Area all, long block, int root, int size) {
        long first = (size - root) * block;
        all.slice(root * block, first).copyFrom(collected.slice(0, first));
        all.copyFrom(collected.slice(first, root * block));
    }

    // ---- scatter

    /**
     * Scatters blocks of equal size from the root: along a binomial tree; long ones directly.
     *
     * @param all the blocks of all members; used at the root only
     * @param own where this member's block goes; not used at the root, which takes its block by itself
     */
    public static void scatter(Schedule schedule, Area all, Area own, long block, int root) {
        int size = schedule.size();
        if (block > LONG_BLOCK_BYTES || size <= 2) {
            if (schedule.rank() != root) {
                schedule.receive(root, own);
            } else {
                for (int to = 0; to < size; to++) {
                    if (to != root) {
                        schedule.send(to, all.slice(to * block, block));
                    }
                }
            }
            schedule.next();
            return;
        }
        int relative = (schedule.rank() - root + size) % size;
        int span = subtree(relative, size);
        Area part = Area.allocate(Math.min(span, size - relative) * block);
        if (relative == 0) {
            long first = (size - root) * block;
            schedule.then(() -> {
                part.copyFrom(all.slice(root * block, first));
                part.slice(first, root * block).copyFrom(all.slice(0, root * block));
            });
        } else {
            schedule.receive((relative - span + root) % size, part);
            schedule.then(() -> own.copyFrom(part.slice(0, block)));
        }
        schedule.next();
        for (int child = span / 2; child > 0; child /= 2) {
            if (relative + child < size) {
                long reach = Math.min(child, size - relative - child);
                schedule.send((relative + child + root) % size, part.slice(child * block, reach * block));
            }
        }
        schedule.next();
    }
}
