package io.madeleine.mpi.comm;

import io.madeleine.mpi.ErrorClass;
import io.madeleine.mpi.MpiFault;
import java.util.Arrays;
import java.util.function.IntPredicate;

/**
 * An ordered set of processes (MPI 4.1, section 7.3): the place in the group is the rank, the content the session rank.
 *
 * <p>Threading: immutable.
 */
public final class RankGroup implements IntPredicate {
    /** Not a member, or no corresponding rank. */
    public static final int UNDEFINED = -32766;

    /** The group without members. */
    public static final RankGroup EMPTY = new RankGroup(new int[0]);

    private final int[] ranks;

    /** The rank of each process of the session in this group; UNDEFINED if it is no member. */
    private final int[] places;

    /** A group of these session ranks, in this order. */
    public RankGroup(int... sessionRanks) {
        ranks = sessionRanks.clone();
        places = new int[Arrays.stream(ranks).max().orElse(-1) + 1];
        Arrays.fill(places, UNDEFINED);
        for (int place = 0; place < ranks.length; place++) {
            places[ranks[place]] = place;
        }
    }

    /** The number of members. */
    public int size() {
        return ranks.length;
    }

    /** The session rank of a member. */
    public int sessionRank(int rank) {
        return ranks[rank];
    }

    /** The rank of a process of the session in this group, or UNDEFINED. */
    public int rankOf(int sessionRank) {
        return sessionRank >= 0 && sessionRank < places.length ? places[sessionRank] : UNDEFINED;
    }

    /** Whether a process of the session is a member. */
    @Override
    public boolean test(int sessionRank) {
        return rankOf(sessionRank) != UNDEFINED;
    }

    private RankGroup where(IntPredicate wanted) {
        return new RankGroup(Arrays.stream(ranks).filter(wanted).toArray());
    }

    /** The members of this group, then those of the other that are not in this one. */
    public RankGroup union(RankGroup other) {
        int[] added = other.where(rank -> !test(rank)).ranks;
        int[] all = Arrays.copyOf(ranks, ranks.length + added.length);
        System.arraycopy(added, 0, all, ranks.length, added.length);
        return new RankGroup(all);
    }

    /** The members of this group that are in the other, too. */
    public RankGroup intersection(RankGroup other) {
        return where(other);
    }

    /** The members of this group that are not in the other. */
    public RankGroup difference(RankGroup other) {
        return where(other.negate());
    }

    /** The members with these ranks, in this order. */
    public RankGroup including(int[] wanted) {
        int[] chosen = new int[wanted.length];
        boolean[] seen = new boolean[ranks.length];
        for (int i = 0; i < wanted.length; i++) {
            checkOnce(wanted[i], seen);
            chosen[i] = ranks[wanted[i]];
        }
        return new RankGroup(chosen);
    }

    /** All members but those with these ranks. */
    public RankGroup excluding(int[] unwanted) {
        boolean[] seen = new boolean[ranks.length];
        for (int rank : unwanted) {
            checkOnce(rank, seen);
        }
        return where(sessionRank -> !seen[rankOf(sessionRank)]);
    }

    private void checkOnce(int rank, boolean[] seen) {
        if (rank < 0 || rank >= ranks.length || seen[rank]) {
            throw new MpiFault(
                    ErrorClass.RANK,
                    "rank " + rank + (rank >= 0 && rank < ranks.length ? " is named twice" : " is no member")
                            + " of a group of " + ranks.length + ": expected each rank once, from 0 to "
                            + (ranks.length - 1));
        }
        seen[rank] = true;
    }

    /** The ranks that triples (first, last, stride) name, the last included. */
    public static int[] expand(int[][] ranges) {
        return Arrays.stream(ranges).flatMapToInt(RankGroup::expand).toArray();
    }

    private static java.util.stream.IntStream expand(int[] range) {
        if (range.length != 3 || range[2] == 0) {
            throw new MpiFault(
                    ErrorClass.ARG,
                    "a range of ranks is " + Arrays.toString(range)
                            + ": expected (first, last, stride) with a stride that is not 0");
        }
        int count = Math.max(0, (range[1] - range[0]) / range[2] + 1);
        boolean isEmpty = range[2] > 0 ? range[0] > range[1] : range[0] < range[1];
        return java.util.stream.IntStream.range(0, isEmpty ? 0 : count).map(i -> range[0] + i * range[2]);
    }

    /** Whether both have the same members in the same order. */
    @Override
    public boolean equals(Object other) {
        return other instanceof RankGroup group && Arrays.equals(ranks, group.ranks);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(ranks);
    }

    /** Whether both have the same members, in any order. */
    public boolean hasSameMembers(RankGroup other) {
        return size() == other.size() && Arrays.stream(ranks).allMatch(other);
    }

    @Override
    public String toString() {
        return "group of session ranks " + Arrays.toString(ranks);
    }
}
