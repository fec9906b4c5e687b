package io.madeleine.switching;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;

/**
 * Takes and gives back the right to send on a connection. As long as one thread alone comes, that costs no fence: an atomic
 * exchange would wait each time until the packet before has left the processor, which is most of what a message in a dense stream
 * costs. Such a thread has the <i>privilege</i> (it is a biased lock, that is). The first thread has it at once. Another one that
 * comes takes it away, at the price of a fence in all threads; and whoever has sent often in a row then, while nobody waited, has
 * it next. Each loss doubles how often that is, so that fences stay rare whatever the threads do.
 *
 * <p>All is in one state, which nobody else knows:
 *
 * <pre>
 *   free      -- compare and set, by anyone -------------> taken
 *   kept      -- store, by who has the privilege --------> taken
 *   taken     -- giveBack, by who has the privilege -----> kept
 *   taken     -- giveBack, by another, or release -------> free
 *   kept      -- compare and set, by who takes the privilege away ---> free
 *   taken     -- handOn ---------------------------------> handed on
 *   handed on -- takeBack -------------------------------> taken
 *   handed on -- giveBack -------------------------------> free
 * </pre>
 *
 * So what is kept for one thread nobody else can take by mistake, and to get the privilege takes no fence.
 *
 * <p>Threading: thread-safe.
 */
final class Turn {
    /** So often the thread that has come alone since the privilege was lost has to come before it has it. */
    static final int LEAST_IN_A_ROW = 4_096;

    private static final int MOST_IN_A_ROW = 1 << 18;

    private static final int FREE = 0;

    /** As FREE, for the thread that has the privilege. */
    private static final int KEPT = 1;

    private static final int TAKEN = 2;

    /** Who took it has left it to another thread, whichever that is. */
    private static final int HANDED_ON = 3;

    private final AtomicInteger state = new AtomicInteger(FREE);
    private final BooleanSupplier isAwaited;
    private final Runnable fence;
    private final int leastInARow;

    private volatile Privilege privilege = Privilege.NOBODYS;

    /** How often in a row a thread has to come; the first one has it at once. */
    private volatile int wantedInARow = 1;

    // of whoever has the turn
    private long lastThreadId = Privilege.NOBODY;
    private int inARow;

    /** That of one thread, until it is lost for good. */
    private static final class Privilege {
        static final long NOBODY = -1;
        static final Privilege NOBODYS = new Privilege(NOBODY);

        /** The id of the thread, not the thread: storing a reference costs a fence under some collectors. */
        final long threadId;

        private final Flag inside = new Flag();
        private volatile boolean contested;

        Privilege(long threadId) {
            this.threadId = threadId;
        }

        /** Whether the thread, which calls, has it still, and will until it {@linkplain #leave() leaves}. */
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

        /** After a fence in all threads, behind {@link #contest}. */
        void awaitOutside() {
            while (inside.isUp()) {
                Thread.onSpinWait(); // a few instructions
            }
        }
    }

    /**
     * The turn, which is free.
     *
     * @param isAwaited whether a thread waits for the turn, or is about to and {@linkplain #prepareToWait prepares}; nobody has a
     *     privilege then
     */
    Turn(BooleanSupplier isAwaited) {
        this(isAwaited, GlobalFence::pass, LEAST_IN_A_ROW);
    }

    /** As {@link #Turn(BooleanSupplier)}, with another fence and another number. */
    Turn(BooleanSupplier isAwaited, Runnable fence, int leastInARow) {
        this.isAwaited = isAwaited;
        this.fence = fence;
        this.leastInARow = leastInARow;
    }

    /** Whether the turn can be had, by some thread at least. */
    boolean isFree() {
        int seen = state.get();
        return seen == FREE || seen == KEPT;
    }

    /** Whether it is free and a thread has the privilege. */
    boolean isKept() {
        return state.get() == KEPT;
    }

    /** Whether who took it has it still. */
    boolean isTaken() {
        return state.get() == TAKEN;
    }

    /** Whether who took it has handed it on. */
    boolean isHandedOn() {
        return state.get() == HANDED_ON;
    }

    /** Takes the turn if it can be had. */
    boolean tryTake() {
        long self = Thread.currentThread().threadId();
        Privilege alone = privilege;
        if (alone.threadId == self) {
            if (alone.enter()) {
                boolean isKept = state.get() == KEPT;
                if (isKept) {
                    state.setRelease(TAKEN);
                }
                alone.leave();
                return isKept || state.compareAndSet(FREE, TAKEN);
            }
            revoke(); // who contests it is on the way to this
        } else if (state.get() == KEPT) {
            revoke();
        }
        if (!state.compareAndSet(FREE, TAKEN)) {
            return false;
        }
        count(self);
        return true;
    }

    /**
     * Gives back what was taken, or has been handed on. Who has {@linkplain #prepareToWait prepared to wait} is seen after this, or
     * sees it.
     */
    void giveBack() {
        Privilege alone = privilege;
        if (state.get() == TAKEN && alone.threadId == Thread.currentThread().threadId() && alone.enter()) {
            state.setRelease(KEPT);
            alone.leave();
        } else {
            release();
        }
    }

    /** As {@link #giveBack}, without regard to privileges; it is a full fence. */
    void release() {
        state.set(FREE);
    }

    /** Who has taken the turn leaves it to another thread, and what was done in it with it. */
    void handOn() {
        state.set(HANDED_ON);
    }

    /** As if it had not been {@linkplain #handOn handed on}: nobody knows of that yet. */
    void takeBack() {
        state.set(TAKEN);
    }

    /** The calling thread, which others can see waiting by now, is about to wait until the turn is given back. */
    void prepareToWait() {
        if (privilege.threadId != Thread.currentThread().threadId()) {
            revoke();
        }
    }

    /** When this returns several threads may come; what the one did until now is visible. */
    private synchronized void revoke() {
        Privilege alone = privilege;
        if (alone == Privilege.NOBODYS) {
            return;
        }
        alone.contest();
        fence.run();
        alone.awaitOutside();
        wantedInARow = Math.clamp(2L * wantedInARow, leastInARow, MOST_IN_A_ROW);
        state.compareAndSet(KEPT, FREE);
        privilege = Privilege.NOBODYS;
    }

    /** The calling thread has the turn, and nobody the privilege, or another thread. */
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

    /** Who begins to wait sees the privilege, or is seen to wait: then nobody has it. */
    private void grant(long self) {
        Privilege granted;
        try {
            granted = new Privilege(self);
        } catch (OutOfMemoryError _) {
            return;
        }
        privilege = granted;
        if (isAwaited.getAsBoolean()) {
            granted.contest(); // without a fence: it is this thread's
            privilege = Privilege.NOBODYS;
        }
    }
}
