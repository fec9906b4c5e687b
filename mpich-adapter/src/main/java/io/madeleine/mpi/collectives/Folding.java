package io.madeleine.mpi.collectives;

/**
 * Reduces a number of members to a power of two: in each of the first pairs, one member hands its values to the other
 * and pauses (Rabenseifner, 2004).
 *
 * <p>Threading: immutable.
 */
final class Folding {
    /** The place of a member that pauses. */
    static final int PAUSES = -1;

    private final int size;
    private final int pairs;
    private final int count;
    private final int active;

    /**
     * A folding of members.
     *
     * @param active a member that must not pause, or -1; then the higher of each pair goes on
     */
    Folding(int size, int active) {
        this.size = size;
        this.count = Integer.highestOneBit(size);
        this.pairs = size - count;
        this.active = active;
    }

    /** The number of members that go on, a power of two. */
    int count() {
        return count;
    }

    boolean isPaired(int rank) {
        return rank < 2 * pairs;
    }

    int partner(int rank) {
        return rank ^ 1;
    }

    private boolean pauses(int rank) {
        if (!isPaired(rank)) {
            return false;
        }
        return active == (rank | 1) || active == (rank & ~1) ? rank != active : (rank & 1) == 0;
    }

    /** The place of a member among those that go on, or {@link #PAUSES}. */
    int place(int rank) {
        if (pauses(rank)) {
            return PAUSES;
        }
        return isPaired(rank) ? rank / 2 : rank - pairs;
    }

    /** The member at a place. */
    int rank(int place) {
        if (place >= pairs) {
            return place + pairs;
        }
        return pauses(2 * place) ? 2 * place + 1 : 2 * place;
    }

    @Override
    public String toString() {
        return size + " members, of which " + count + " go on";
    }
}
