package io.madeleine.mpi.collectives;

/**
 * Reduce, allreduce, reduce-scatter and scans, on values that lie packed in one area.
 *
 * <p>Sources: Rabenseifner: <i>Optimization of Collective Reduction Operations</i>, ICCS 2004; Thakur, Rabenseifner and
 * Gropp, 2005, sections 3.4 to 3.6.
 *
 * <p>Threading: without state.
 */
public final class Reductions {
    /** Longer values are reduced by halving if the operation is commutative. */
    static final long LONG_REDUCTION_BYTES = 8 << 10;

    /** As {@link #LONG_REDUCTION_BYTES}, for two members: halving then saves no bytes, but half of the combining. */
    static final long LONG_PAIR_BYTES = 512 << 10;

    private Reductions() {}

    /** Whether values are reduced by halving: the same at all members, whatever memory each has. */
    static boolean isHalved(int size, Area data, Combining combining) {
        return combining.operation().isCommutative()
                && data.bytes() > (size == 2 ? LONG_PAIR_BYTES : LONG_REDUCTION_BYTES)
                && combining.items(data) >= Integer.highestOneBit(size)
                && size > 1;
    }

    // ---- reduce

    /**
     * Reduces the values of all members at the root: along a binomial tree; long ones by halving, then gathering
     * (Rabenseifner). Without commutativity the tree's root is rank 0, which passes the result on.
     *
     * @param data this member's values; the result at the root, undefined elsewhere
     */
    public static void reduce(Schedule schedule, Area data, Combining combining, int root) {
        if (isHalved(schedule.size(), data, combining)) {
            Folding folding = new Folding(schedule.size(), root);
            fold(schedule, data, combining, folding);
            halve(schedule, data, combining, folding);
            collect(schedule, data, combining, folding, root);
            return;
        }
        int top = combining.operation().isCommutative() ? root : 0;
        binomialReduce(schedule, data, combining, top);
        if (top != root) {
            if (schedule.rank() == top) {
                schedule.send(root, data);
            } else if (schedule.rank() == root) {
                schedule.receive(top, data);
            }
            schedule.next();
        }
    }

    private static void binomialReduce(Schedule schedule, Area data, Combining combining, int root) {
        int size = schedule.size();
        int relative = (schedule.rank() - root + size) % size;
        int span = Trees.subtree(relative, size);
        Area coming = schedule.temporary(relative + 1 < size && span > 1 ? data.bytes() : 0);
        for (int child = 1; child < span && relative + child < size; child *= 2) {
            schedule.receive((relative + child + root) % size, coming);
            schedule.then(() -> combining.intoLower(data, coming));
            schedule.next();
        }
        if (relative != 0) {
            schedule.send((relative - span + root) % size, data);
            schedule.next();
        }
    }

    // ---- allreduce

    /**
     * Reduces the values of all members everywhere: by recursive doubling; long ones by halving and then doubling
     * (Rabenseifner).
     *
     * @param data this member's values, and the result
     */
    public static void allreduce(Schedule schedule, Area data, Combining combining) {
        Folding folding = new Folding(schedule.size(), -1);
        fold(schedule, data, combining, folding);
        if (isHalved(schedule.size(), data, combining)) {
            halve(schedule, data, combining, folding);
            spread(schedule, data, combining, folding);
        } else {
            doubling(schedule, data, combining, folding);
        }
        unfold(schedule, data, folding);
    }

    /** Of each pair, the member that pauses hands its values to the other. */
    private static void fold(Schedule schedule, Area data, Combining combining, Folding folding) {
        int rank = schedule.rank();
        if (!folding.isPaired(rank)) {
            return;
        }
        int partner = folding.partner(rank);
        if (folding.place(rank) == Folding.PAUSES) {
            schedule.send(partner, data);
        } else {
            Area coming = schedule.temporary(data.bytes());
            schedule.receive(partner, coming);
            schedule.then(() -> combine(combining, data, coming, partner < rank));
        }
        schedule.next();
    }

    static void combine(Combining combining, Area own, Area coming, boolean isLower) {
        if (isLower) {
            combining.intoUpper(coming, own);
        } else {
            combining.intoLower(own, coming);
        }
    }

    /** The members that pause receive the result. */
    private static void unfold(Schedule schedule, Area data, Folding folding) {
        int rank = schedule.rank();
        if (!folding.isPaired(rank)) {
            return;
        }
        if (folding.place(rank) == Folding.PAUSES) {
            schedule.receive(folding.partner(rank), data);
        } else {
            schedule.send(folding.partner(rank), data);
        }
        schedule.next();
    }

    private static void doubling(Schedule schedule, Area data, Combining combining, Folding folding) {
        int place = folding.place(schedule.rank());
        if (place == Folding.PAUSES) {
            return;
        }
        Area coming = schedule.temporary(folding.count() > 1 ? data.bytes() : 0);
        for (int distance = 1; distance < folding.count(); distance *= 2) {
            int partner = folding.rank(place ^ distance);
            schedule.receive(partner, coming);
            schedule.send(partner, data);
            schedule.then(() -> combine(combining, data, coming, partner < schedule.rank()));
            schedule.next();
        }
    }

    // ---- halving

    /** The values from one place to another, if each place has an equal share of the items. */
    static Area share(Area data, Combining combining, int from, int to, int count) {
        long items = combining.items(data);
        long size = combining.type().size();
        long first = items * from / count * size;
        long last = items * to / count * size;
        return data.slice(first, last - first);
    }

    /** The most that the members of one half of the places have. */
    static long halfBytes(Area data, Combining combining) {
        return (combining.items(data) + 1) / 2 * combining.type().size();
    }

    /** Each member that goes on gets the reduced values of its place. */
    private static void halve(Schedule schedule, Area data, Combining combining, Folding folding) {
        int place = folding.place(schedule.rank());
        if (place == Folding.PAUSES) {
            return;
        }
        int count = folding.count();
        Area arriving = schedule.temporary(halfBytes(data, combining));
        for (int distance = count / 2; distance >= 1; distance /= 2) {
            int kept = place & -distance;
            int given = kept ^ distance;
            int partner = folding.rank(place ^ distance);
            Area keeps = share(data, combining, kept, kept + distance, count);
            Area coming = arriving.slice(0, keeps.bytes());
            schedule.receive(partner, coming);
            schedule.send(partner, share(data, combining, given, given + distance, count));
            schedule.then(() -> combining.intoLower(keeps, coming)); // commutative
            schedule.next();
        }
    }

    /** After {@link #halve}: each member that goes on gets all values. */
    private static void spread(Schedule schedule, Area data, Combining combining, Folding folding) {
        int place = folding.place(schedule.rank());
        if (place == Folding.PAUSES) {
            return;
        }
        int count = folding.count();
        for (int distance = 1; distance < count; distance *= 2) {
            int own = place & -distance;
            int other = own ^ distance;
            int partner = folding.rank(place ^ distance);
            schedule.receive(partner, share(data, combining, other, other + distance, count));
            schedule.send(partner, share(data, combining, own, own + distance, count));
            schedule.next();
        }
    }

    /** After {@link #halve}: the root gets all values. */
    private static void collect(Schedule schedule, Area data, Combining combining, Folding folding, int root) {
        int place = folding.place(schedule.rank());
        if (place == Folding.PAUSES) {
            return;
        }
        int count = folding.count();
        int rootPlace = folding.place(root);
        for (int distance = 1; distance < count; distance *= 2) {
            int own = place & -distance;
            int other = own ^ distance;
            int partner = folding.rank(place ^ distance);
            if ((place & distance) != (rootPlace & distance)) {
                schedule.send(partner, share(data, combining, own, own + distance, count));
                schedule.next();
                return;
            }
            schedule.receive(partner, share(data, combining, other, other + distance, count));
            schedule.next();
        }
    }

    // ---- reduce-scatter

    /**
     * Reduces the values of all members, and gives each its part: commutative operations by exchange in pairs, n - 1
     * messages per member; others by a reduce and a scatter.
     *
     * @param data the values for all members, in order
     * @param bytes the length of each member's part
     * @param result where this member's part goes
     */
    public static void reduceScatter(Schedule schedule, Area data, long[] bytes, Area result, Combining combining) {
        int size = schedule.size();
        int rank = schedule.rank();
        Area[] parts = new Area[size];
        long at = 0;
        for (int i = 0; i < size; i++) {
            parts[i] = data.slice(at, bytes[i]);
            at += bytes[i];
        }
        if (!combining.operation().isCommutative()) {
            reduce(schedule, data, combining, 0);
            for (int to = 1; to < size && rank == 0; to++) {
                schedule.send(to, parts[to]);
            }
            if (rank != 0) {
                schedule.receive(0, result);
            } else {
                schedule.then(() -> result.copyFrom(parts[0]));
            }
            schedule.next();
            return;
        }
        Area sum = schedule.temporary(bytes[rank]);
        Area coming = schedule.temporary(bytes[rank]);
        schedule.then(() -> sum.copyFrom(parts[rank]));
        schedule.next();
        for (int step = 1; step < size; step++) {
            int to = (rank + step) % size;
            int from = (rank - step + size) % size;
            schedule.receive(from, coming);
            schedule.send(to, parts[to]);
            schedule.then(() -> combining.intoLower(sum, coming));
            schedule.next();
        }
        schedule.then(() -> result.copyFrom(sum)); // the result may lie in the memory of the values
        schedule.next();
    }

    // ---- scans

    /**
     * Prefix reduction by recursive doubling (Hillis and Steele: <i>Data parallel algorithms</i>, 1986, after MPICH).
     *
     * @param own this member's values; not changed
     * @param result the values of ranks 0 to this one combined; if exclusive, of ranks 0 to the one before this, and
     *     unchanged at rank 0
     */
    public static void scan(Schedule schedule, Area own, Area result, Combining combining, boolean isExclusive) {
        int rank = schedule.rank();
        Area partial = schedule.temporary(own.bytes());
        Area prefix = schedule.temporary(own.bytes());
        Area coming = schedule.temporary(own.bytes());
        boolean[] hasPrefix = {!isExclusive};
        schedule.then(() -> {
            partial.copyFrom(own);
            prefix.copyFrom(own);
        });
        schedule.next();
        for (int distance = 1; distance < schedule.size(); distance *= 2) {
            int partner = rank ^ distance;
            if (partner >= schedule.size()) {
                continue;
            }
            schedule.receive(partner, coming);
            schedule.send(partner, partial);
            schedule.then(() -> {
                if (partner > rank) {
                    combining.intoLower(partial, coming);
                    return;
                }
                if (hasPrefix[0]) {
                    combining.intoUpper(coming, prefix);
                } else {
                    prefix.copyFrom(coming);
                    hasPrefix[0] = true;
                }
                combining.intoUpper(coming, partial);
            });
            schedule.next();
        }
        schedule.then(() -> {
            if (hasPrefix[0]) {
                result.copyFrom(prefix);
            }
        });
        schedule.next();
    }
}
