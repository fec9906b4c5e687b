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
 * <p>All is in one state:
 *
 * <pre>
 *   free   -- compare and set, by anyone -------------> taken
 *   kept   -- store, by who has the privilege --------> taken
 *   taken  -- giveBack, by who has the privilege -----> kept
 *   taken  -- giveBack, by another -------------------> free
 *   kept   -- compare and set, by who takes the privilege away ---> free
 * </pre>
 *
 * So what is kept for one thread nobody else can take by mistake, and to get the privilege takes no fence. Whoever has the turn may set the
 * state to free without regard to privileges.
 *
 * <p>Threading: thread-safe.
 */
final class Turn {
    /** So often the thread that has come alone since the privilege was lost has to come before it has it. */
    static final int LEAST_IN_A_ROW = 4_096;

    private static final int MOST_IN_A_ROW = 1 << 18;

    private final AtomicInteger state;
    private final int free;
    private final int kept;
    private final int taken;
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
     * The turn, which can be taken while {@code state} is {@code free} or {@code kept}.
     *
     * @param isAwaited whether a thread waits for the turn, or is about to and {@linkplain #prepareToWait prepares}; nobody has a
     *     privilege then
     */
    Turn(AtomicInteger state, int free, int kept, int taken, BooleanSupplier isAwaited) {
        this(state, free, kept, taken, isAwaited, GlobalFence::pass, LEAST_IN_A_ROW);
    }

    /** As {@link #Turn(AtomicInteger, int, int, int, BooleanSupplier)}, with another fence and another number. */
    Turn(
            AtomicInteger state,
            int free,
            int kept,
            int taken,
            BooleanSupplier isAwaited,
            Runnable fence,
            int leastInARow) {
        this.state = state;
        this.free = free;
        this.kept = kept;
        this.taken = taken;
        this.isAwaited = isAwaited;
        this.fence = fence;
        this.leastInARow = leastInARow;
    }

    /** Takes the turn if it can be had. */
    boolean tryTake() {
        long self = Thread.currentThread().threadId();
        Privilege alone = privilege;
        if (alone.threadId == self) {
            if (alone.enter()) {
                boolean isKept = state.get() == kept;
                if (isKept) {
                    state.setRelease(taken);
                }
                alone.leave();
                return isKept || state.compareAndSet(free, taken);
            }
            revoke(); // who contests it is on the way to this
        } else if (state.get() == kept) {
            revoke();
        }
        if (!state.compareAndSet(free, taken)) {
            return false;
        }
        count(self);
        return true;
    }

    /** Gives back what was taken. Who has {@linkplain #prepareToWait prepared to wait} is seen after this, or sees it. */
    void giveBack() {
        Privilege alone = privilege;
        if (alone.threadId == Thread.currentThread().threadId() && alone.enter()) {
            state.setRelease(kept);
            alone.leave();
        } else {
            state.set(free);
        }
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
        state.compareAndSet(kept, free);
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
