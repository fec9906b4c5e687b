package io.madeleine.switching;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;

/**
 * The right to send on a connection: a biased lock. While one thread alone sends, taking and giving back costs no
 * fence. An atomic exchange would wait each time until the previous packet has left the processor, which is most of the
 * cost of a message in a dense stream.
 *
 * <p>The thread for which the lock is biased has the <i>privilege</i>. The first thread gets it at once. A second
 * thread revokes it, at the price of a fence in all threads. After that, a thread gets the privilege when it has sent
 * many times in a row while no thread waited. Each revocation doubles that number, so that fences stay rare whatever
 * the threads do.
 *
 * <p>One private field holds the whole state:
 *
 * <pre>
 *   free        -- compare and set, by any thread -----------------> taken
 *   biased      -- store, by the thread with the privilege --------> taken
 *   taken       -- release, by the thread with the privilege ------> biased
 *   taken       -- release, by another thread, or releaseUnbiased -> free
 *   biased      -- compare and set, by a thread that revokes ------> free
 *   taken       -- handOver ---------------------------------------> handed over
 *   handed over -- takeBack ---------------------------------------> taken
 *   handed over -- release ----------------------------------------> free
 * </pre>
 *
 * <p>So no other thread can take a biased lock by mistake, and granting the privilege needs no fence.
 *
 * <p>Threading: thread-safe.
 */
final class BiasedSendLock {
    /** After a revocation, a thread gets the privilege when it has taken the lock at least this many times in a row. */
    static final int LEAST_IN_A_ROW = 4_096;

    private static final int MOST_IN_A_ROW = 1 << 18;

    private static final int FREE = 0;

    /** Free, but only for the thread with the privilege. */
    private static final int BIASED = 1;

    private static final int TAKEN = 2;

    /** The thread that took the lock has left it to another one, whichever that is. */
    private static final int HANDED_OVER = 3;

    private final AtomicInteger state = new AtomicInteger(FREE);
    private final BooleanSupplier isAwaited;
    private final Runnable fence;
    private final int leastInARow;

    private volatile Privilege privilege = Privilege.NOBODYS;

    /** How many times in a row a thread has to take the lock; the first thread gets the privilege at once. */
    private volatile int wantedInARow = 1;

    // guarded by the lock
    private long lastThreadId = Privilege.NOBODY;
    private int inARow;

    /** The privilege of one thread, from its grant to its revocation. */
    private static final class Privilege {
        static final long NOBODY = -1;
        static final Privilege NOBODYS = new Privilege(NOBODY);

        /** The id of the thread, not the thread: some collectors issue a fence for storing a reference. */
        final long threadId;

        private final Flag inside = new Flag();
        private volatile boolean contested;

        Privilege(long threadId) {
            this.threadId = threadId;
        }

        /**
         * Whether the calling thread still has the privilege; if so, it keeps it until it {@linkplain #leave() leaves}.
         */
        boolean enter() {
            inside.raise();
            if (!contested) {
                return true;
            }
            inside.lower();
            return false;
        }

        void leave() {
            inside.lower();
        }

        void contest() {
            contested = true;
        }

        /** Waits until the thread is outside; called after {@link #contest} and a fence in all threads. */
        void awaitOutside() {
            while (inside.isUp()) {
                Thread.onSpinWait(); // a few instructions
            }
        }
    }

    /**
     * Creates a free lock.
     *
     * @param isAwaited whether a thread waits for the lock, or is about to and {@linkplain #prepareToWait prepares};
     *     while it returns true, nobody is granted the privilege
     */
    BiasedSendLock(BooleanSupplier isAwaited) {
        this(isAwaited, GlobalFence::pass, LEAST_IN_A_ROW);
    }

    /** As {@link #BiasedSendLock(BooleanSupplier)}, with another fence and another minimum of takes in a row. */
    BiasedSendLock(BooleanSupplier isAwaited, Runnable fence, int leastInARow) {
        this.isAwaited = isAwaited;
        this.fence = fence;
        this.leastInARow = leastInARow;
    }

    /** Whether the lock can be taken, at least by some thread. */
    boolean isFree() {
        int seen = state.get();
        return seen == FREE || seen == BIASED;
    }

    /** Whether it is free for the thread with the privilege only. */
    boolean isBiased() {
        return state.get() == BIASED;
    }

    /** Whether a thread has taken it and not handed it over. */
    boolean isTaken() {
        return state.get() == TAKEN;
    }

    /** Whether a thread has taken it and handed it over. */
    boolean isHandedOver() {
        return state.get() == HANDED_OVER;
    }

    /** Takes the lock if the calling thread can have it. */
    boolean tryTake() {
        long self = Thread.currentThread().threadId();
        Privilege alone = privilege;
        if (alone.threadId == self) {
            if (alone.enter()) {
                boolean isBiased = state.get() == BIASED;
                if (isBiased) {
                    state.setRelease(TAKEN);
                }
                alone.leave();
                return isBiased || state.compareAndSet(FREE, TAKEN);
            }
            revoke(); // as the contesting thread is about to do
        } else if (state.get() == BIASED) {
            revoke();
        }
        if (!state.compareAndSet(FREE, TAKEN)) {
            return false;
        }
        count(self);
        return true;
    }

    /**
     * Releases the lock, taken or handed over. Either the caller sees a thread that has
     * {@linkplain #prepareToWait prepared to wait}, or that thread sees the free lock.
     */
    void release() {
        Privilege alone = privilege;
        if (state.get() == TAKEN && alone.threadId == Thread.currentThread().threadId() && alone.enter()) {
            state.setRelease(BIASED);
            alone.leave();
        } else {
            releaseUnbiased();
        }
    }

    /** As {@link #release}, but ignores the privilege; it is a full fence. */
    void releaseUnbiased() {
        state.set(FREE);
    }

    /** Hands the lock, and with it everything written under it, to another thread. */
    void handOver() {
        state.set(HANDED_OVER);
    }

    /** Undoes {@link #handOver}, if no other thread knows of it yet. */
    void takeBack() {
        state.set(TAKEN);
    }

    /** Called by a thread that is already visible as a waiter and is about to wait until the lock is released. */
    void prepareToWait() {
        if (privilege.threadId != Thread.currentThread().threadId()) {
            revoke();
        }
    }

    /**
     * Revokes the privilege. When this returns, all threads compete, and everything that the privileged thread did is
     * visible.
     */
    private synchronized void revoke() {
        Privilege alone = privilege;
        if (alone == Privilege.NOBODYS) {
            return;
        }
        alone.contest();
        fence.run();
        alone.awaitOutside();
        wantedInARow = Math.clamp(2L * wantedInARow, leastInARow, MOST_IN_A_ROW);
        state.compareAndSet(BIASED, FREE);
        privilege = Privilege.NOBODYS;
    }

    /** Counts the takes in a row; the calling thread has the lock, and not the privilege. */
    private void count(long self) {
        if (lastThreadId != self) {
            lastThreadId = self;
            inARow = 0;
        }
        if (++inARow >= wantedInARow && privilege == Privilege.NOBODYS && !isAwaited.getAsBoolean()) {
            inARow = 0;
            grant(self);
        }
    }

    /**
     * Grants the privilege. A thread that begins to wait sees the privilege, or this thread sees the waiter and
     * withdraws it.
     */
    private void grant(long self) {
        Privilege granted;
        try {
            granted = new Privilege(self);
        } catch (OutOfMemoryError _) {
            return;
        }
        privilege = granted;
        if (isAwaited.getAsBoolean()) {
            granted.contest(); // needs no fence: the privilege is this thread's own
            privilege = Privilege.NOBODYS;
        }
    }
}
