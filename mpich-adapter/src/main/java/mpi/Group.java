package mpi;

import io.madeleine.mpi.MpiFault;
import io.madeleine.mpi.comm.RankGroup;
import java.util.function.Supplier;
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

    private static <T> T guarded(Supplier<T> call) {
        try {
            return call.get();
        } catch (MpiFault e) {
            throw new MPIException(e.errorClass(), e.getMessage(), e);
        }
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
        int[] translated = new int[ranks.length];
        for (int i = 0; i < ranks.length; i++) {
            int rank = ranks[i];
            if (rank != MPI.PROC_NULL && (rank < 0 || rank >= group1.getSize())) {
                throw new MPIException(
                        MPI.ERR_RANK, "rank " + rank + " is no member of a group of " + group1.getSize(), null);
            }
            translated[i] = rank == MPI.PROC_NULL
                    ? MPI.PROC_NULL
                    : group2.members().rankOf(group1.members().sessionRank(rank));
        }
        return translated;
    }

    /** As {@link #translateRanks}. */
    public static int[] Translate_ranks(Group group1, int[] ranks, Group group2) {
        return translateRanks(group1, ranks, group2);
    }

    /** IDENT, SIMILAR or UNEQUAL. */
    public static int compare(Group group1, Group group2) {
        if (group1.members().equals(group2.members())) {
            return MPI.IDENT;
        }
        return group1.members().hasSameMembers(group2.members()) ? MPI.SIMILAR : MPI.UNEQUAL;
    }

    /** As {@link #compare}. */
    public static int Compare(Group group1, Group group2) {
        return compare(group1, group2);
    }

    /** The members of the first, then those of the second that are not in the first. */
    public static Group union(Group group1, Group group2) {
        return of(group1.members().union(group2.members()), group1, group2);
    }

    /** As {@link #union}. */
    public static Group Union(Group group1, Group group2) {
        return union(group1, group2);
    }

    /** The members of the first that are in the second. */
    public static Group intersection(Group group1, Group group2) {
        return of(group1.members().intersection(group2.members()), group1, group2);
    }

    /** As {@link #intersection}. */
    public static Group Intersection(Group group1, Group group2) {
        return intersection(group1, group2);
    }

    /** The members of the first that are not in the second. */
    public static Group difference(Group group1, Group group2) {
        return of(group1.members().difference(group2.members()), group1, group2);
    }

    /** As {@link #difference}. */
    public static Group Difference(Group group1, Group group2) {
        return difference(group1, group2);
    }

    /** The members with these ranks, in this order. */
    public Group incl(int[] ranks) {
        return new Group(guarded(() -> members().including(ranks)), self);
    }

    /** As {@link #incl}. */
    public Group Incl(int[] ranks) {
        return incl(ranks);
    }

    /** All members but those with these ranks. */
    public Group excl(int[] ranks) {
        return new Group(guarded(() -> members().excluding(ranks)), self);
    }

    /** As {@link #excl}. */
    public Group Excl(int[] ranks) {
        return excl(ranks);
    }

    /** The members in these ranges (first, last, stride), the last included. */
    public Group rangeIncl(int[][] ranges) {
        return incl(guarded(() -> RankGroup.expand(ranges)));
    }

    /** As {@link #rangeIncl}. */
    public Group Range_incl(int[][] ranges) {
        return rangeIncl(ranges);
    }

    /** All members but those in these ranges (first, last, stride). */
    public Group rangeExcl(int[][] ranges) {
        return excl(guarded(() -> RankGroup.expand(ranges)));
    }

    /** As {@link #rangeExcl}. */
    public Group Range_excl(int[][] ranges) {
        return rangeExcl(ranges);
    }
}
