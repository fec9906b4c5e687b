package io.madeleine.mpi.comm;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * Hands out identities of communicators. The member with rank 0 takes one and tells the others. An identity contains
 * the session rank of that process and a count, so that no two are equal, even if processes create them at the same
 * time.
 *
 * <p>Threading: thread-safe.
 */
public final class ContextNumbers {
    /** The communicator of all processes. */
    public static final long WORLD = 0;

    /** The communicator of all processes in {@code MPI_Finalize}: messages left in another one do not disturb it. */
    public static final long FINALIZE = 2;

    private static final int SELF = 1;

    private final int sessionRank;
    private final AtomicInteger next = new AtomicInteger((int) FINALIZE + 1);

    /** The identities that a process hands out. */
    public ContextNumbers(int sessionRank) {
        this.sessionRank = sessionRank;
    }

    private long number(int count) {
        return (long) sessionRank << Integer.SIZE - 1 | count;
    }

    /**
     * An identity for people: as 2.5 for the fifth one that the process with session rank 2 has handed out to the
     * program.
     */
    public static String text(long identity) {
        long count = identity & Integer.MAX_VALUE;
        return (identity >> Integer.SIZE - 1) + "." + (count - FINALIZE);
    }

    /** The communicator of this process alone. */
    public long self() {
        return number(SELF);
    }

    /** An identity that nobody has. */
    public long next() {
        return number(next.getAndIncrement());
    }
}
