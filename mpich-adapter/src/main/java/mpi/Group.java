package mpi;

import io.madeleine.mpi.ErrorClass;
import io.madeleine.mpi.comm.RankGroup;
import org.jspecify.annotations.Nullable;

/**
 * An ordered set of processes.
 *
 * <p>Threading: thread-safe.
 */
@SuppressWarnings("MemberName") // the names of mpiJava
public final class Group implements Freeable {
    /** What mpiJava calls the group without members. */
    public static final int EMPTY = 3;

    private volatile @Nullable RankGroup members;

    /** The session rank of this process. */
    private final int self;

    Group(@Nullable RankGroup members, int self) {
        this.members = members;
        this.self = self;
    }

    RankGroup members() {
        RankGroup all = members;
        if (all == null) {
            throw new MPIException(MPI.ERR_GROUP, "the group is null: expected one that is not freed", null);
        }
        return all;
    }

    private static Group given(@Nullable Group group) {
        return Arguments.unhandled(() -> Arguments.present(group, ErrorClass.GROUP, "the group"));
    }

    private static int[] ranks(int @Nullable [] ranks) {
        return Arguments.unhandled(() -> Arguments.present(ranks, ErrorClass.ARG, "the array of ranks"));
    }

    private static Group of(RankGroup members, Group one, Group other) {
        return new Group(members, Math.max(one.self, other.self)); // the empty group knows no process
    }

    /** The number of members. */
    public int getSize() {
        return members().size();
    }

    /** As {@link #getSize}. */
    public int Size() {
        return getSize();
    }

    /** The rank of this process, or UNDEFINED. */
    public int getRank() {
        return members().rankOf(self);
    }

    /** As {@link #getRank}. */
    public int Rank() {
        return getRank();
    }

    /** Makes this the null group. */
    @Override
    public void free() {
        members = null;
    }

    /** Whether it is freed. */
    public boolean isNull() {
        return members == null;
    }

    /** The ranks in the second group of members of the first. */
    public static int[] translateRanks(Group group1, int[] ranks, Group group2) {
        int[] translated = new int[ranks(ranks).length];
        for (int i = 0; i < ranks.length; i++) {
            int rank = ranks[i];
            if (rank != MPI.PROC_NULL && (rank < 0 || rank >= given(group1).getSize())) {
                throw new MPIException(
                        MPI.ERR_RANK,
                        "rank " + rank + " is no member of a group of "
                                + given(group1).getSize(),
                        null);
            }
            translated[i] = rank == MPI.PROC_NULL
                    ? MPI.PROC_NULL
                    : given(group2).members().rankOf(given(group1).members().sessionRank(rank));
        }
        return translated;
    }

    /** As {@link #translateRanks}. */
    public static int[] Translate_ranks(Group group1, int[] ranks, Group group2) {
        return translateRanks(group1, ranks, group2);
    }

    /** IDENT, SIMILAR or UNEQUAL. */
    public static int compare(Group group1, Group group2) {
        if (given(group1).members().equals(given(group2).members())) {
            return MPI.IDENT;
        }
        return given(group1).members().hasSameMembers(given(group2).members()) ? MPI.SIMILAR : MPI.UNEQUAL;
    }

    /** As {@link #compare}. */
    public static int Compare(Group group1, Group group2) {
        return compare(group1, group2);
    }

    /** The members of the first, then those of the second that are not in the first. */
    public static Group union(Group group1, Group group2) {
        return of(given(group1).members().union(given(group2).members()), group1, group2);
    }

    /** As {@link #union}. */
    public static Group Union(Group group1, Group group2) {
        return union(group1, group2);
    }

    /** The members of the first that are in the second. */
    public static Group intersection(Group group1, Group group2) {
        return of(given(group1).members().intersection(given(group2).members()), group1, group2);
    }

    /** As {@link #intersection}. */
    public static Group Intersection(Group group1, Group group2) {
        return intersection(group1, group2);
    }

    /** The members of the first that are not in the second. */
    public static Group difference(Group group1, Group group2) {
        return of(given(group1).members().difference(given(group2).members()), group1, group2);
    }

    /** As {@link #difference}. */
    public static Group Difference(Group group1, Group group2) {
        return difference(group1, group2);
    }

    /** The members with these ranks, in this order. */
    public Group incl(int[] ranks) {
        return new Group(Arguments.unhandled(() -> members().including(ranks(ranks))), self);
    }

    /** As {@link #incl}. */
    public Group Incl(int[] ranks) {
        return incl(ranks);
    }

    /** All members but those with these ranks. */
    public Group excl(int[] ranks) {
        return new Group(Arguments.unhandled(() -> members().excluding(ranks(ranks))), self);
    }

    /** As {@link #excl}. */
    public Group Excl(int[] ranks) {
        return excl(ranks);
    }

    /** The members in these ranges (first, last, stride), the last included. */
    public Group rangeIncl(int[][] ranges) {
        return incl(Arguments.unhandled(
                () -> RankGroup.expand(Arguments.present(ranges, ErrorClass.ARG, "the array of ranges"))));
    }

    /** As {@link #rangeIncl}. */
    public Group Range_incl(int[][] ranges) {
        return rangeIncl(ranges);
    }

    /** All members but those in these ranges (first, last, stride). */
    public Group rangeExcl(int[][] ranges) {
        return excl(Arguments.unhandled(
                () -> RankGroup.expand(Arguments.present(ranges, ErrorClass.ARG, "the array of ranges"))));
    }

    /** As {@link #rangeExcl}. */
    public Group Range_excl(int[][] ranges) {
        return rangeExcl(ranges);
    }
}
