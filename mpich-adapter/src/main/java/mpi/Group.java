package mpi;

import io.madeleine.mpi.ErrorClass;
import io.madeleine.mpi.MpiFault;
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

    /** The members of an argument, in a call with a communicator, whose error handler takes the fault. */
    static RankGroup present(@Nullable Group group) {
        return Arguments.present(group, ErrorClass.GROUP, "the group", "one such as MPI.GROUP_EMPTY")
                .checked();
    }

    private RankGroup checked() {
        RankGroup all = members;
        if (all == null) {
            throw new MpiFault(ErrorClass.GROUP, "the group is null: expected one that is not freed");
        }
        return all;
    }

    private RankGroup members() {
        return Arguments.unhandled(this::checked);
    }

    private static RankGroup members(@Nullable Group group) {
        return Arguments.unhandled(() -> present(group));
    }

    private static int[] ranks(int @Nullable [] ranks) {
        return Arguments.required(ranks, MPI.ERR_ARG, "the array of ranks", "an array, which may be empty");
    }

    private static int[][] ranges(int[] @Nullable [] ranges) {
        return Arguments.required(
                ranges, MPI.ERR_ARG, "the array of ranges", "a first rank, a last rank and a stride each");
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
        RankGroup from = members(group1);
        RankGroup to = members(group2);
        int[] translated = ranks(ranks).clone();
        for (int i = 0; i < translated.length; i++) {
            int rank = translated[i];
            if (rank == MPI.PROC_NULL) {
                continue;
            }
            if (rank < 0 || rank >= from.size()) {
                throw new MPIException(
                        MPI.ERR_RANK, "rank " + rank + " is no member of a group of " + from.size(), null);
            }
            translated[i] = to.rankOf(from.sessionRank(rank));
        }
        return translated;
    }

    /** As {@link #translateRanks}. */
    public static int[] Translate_ranks(Group group1, int[] ranks, Group group2) {
        return translateRanks(group1, ranks, group2);
    }

    /** IDENT, SIMILAR or UNEQUAL. */
    public static int compare(Group group1, Group group2) {
        RankGroup one = members(group1);
        RankGroup other = members(group2);
        if (one.equals(other)) {
            return MPI.IDENT;
        }
        return one.hasSameMembers(other) ? MPI.SIMILAR : MPI.UNEQUAL;
    }

    /** As {@link #compare}. */
    public static int Compare(Group group1, Group group2) {
        return compare(group1, group2);
    }

    /** The members of the first, then those of the second that are not in the first. */
    public static Group union(Group group1, Group group2) {
        return of(members(group1).union(members(group2)), group1, group2);
    }

    /** As {@link #union}. */
    public static Group Union(Group group1, Group group2) {
        return union(group1, group2);
    }

    /** The members of the first that are in the second. */
    public static Group intersection(Group group1, Group group2) {
        return of(members(group1).intersection(members(group2)), group1, group2);
    }

    /** As {@link #intersection}. */
    public static Group Intersection(Group group1, Group group2) {
        return intersection(group1, group2);
    }

    /** The members of the first that are not in the second. */
    public static Group difference(Group group1, Group group2) {
        return of(members(group1).difference(members(group2)), group1, group2);
    }

    /** As {@link #difference}. */
    public static Group Difference(Group group1, Group group2) {
        return difference(group1, group2);
    }

    /** The members with these ranks, in this order. */
    public Group incl(int[] ranks) {
        return new Group(Arguments.unhandled(() -> checked().including(ranks(ranks))), self);
    }

    /** As {@link #incl}. */
    public Group Incl(int[] ranks) {
        return incl(ranks);
    }

    /** All members but those with these ranks. */
    public Group excl(int[] ranks) {
        return new Group(Arguments.unhandled(() -> checked().excluding(ranks(ranks))), self);
    }

    /** As {@link #excl}. */
    public Group Excl(int[] ranks) {
        return excl(ranks);
    }

    /** The members in these ranges (first, last, stride), the last included. */
    public Group rangeIncl(int[][] ranges) {
        return incl(Arguments.unhandled(() -> RankGroup.expand(ranges(ranges))));
    }

    /** As {@link #rangeIncl}. */
    public Group Range_incl(int[][] ranges) {
        return rangeIncl(ranges);
    }

    /** All members but those in these ranges (first, last, stride). */
    public Group rangeExcl(int[][] ranges) {
        return excl(Arguments.unhandled(() -> RankGroup.expand(ranges(ranges))));
    }

    /** As {@link #rangeExcl}. */
    public Group Range_excl(int[][] ranges) {
        return rangeExcl(ranges);
    }
}
