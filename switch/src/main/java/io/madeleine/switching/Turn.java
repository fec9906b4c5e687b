package io.madeleine.switching;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Takes and gives back the right to send on a connection, which is a state that is free or taken. As long as one thread
 * alone comes, that costs no fence: an atomic exchange would wait each time until the packet before has left the processor,
 * which is most of what a message in a dense stream costs. The first time that another thread comes, it takes this away for
 * good, at the price of a fence in all threads (a biased lock, that is, whose bias goes once).
 *
 * <p>Threading: thread-safe.
 */
final class Turn {
    private static final long NOBODY = -1;

    private final AtomicInteger state;
    private final int free;
    private final int taken;
    private final AtomicLong owner = new AtomicLong(NOBODY);
    private final Flag inside = new Flag();
    private final Runnable fence;

    /** Another thread has come: the one that was alone is to be so no more. */
    private volatile boolean contested;

    /** The one that was alone has seen that. Not before may others go on. */
    private volatile boolean shared;

    /** The right to send is free while {@code state} is {@code free}. */
    Turn(AtomicInteger state, int free, int taken) {
        this(state, free, taken, GlobalFence::pass);
    }

    /** As {@link #Turn(AtomicInteger, int, int)}, with another fence. */
    Turn(AtomicInteger state, int free, int taken, Runnable fence) {
        this.fence = fence;
        this.state = state;
        this.free = free;
        this.taken = taken;
    }

    /** Takes the turn if it is free. */
    boolean tryTake() {
        if (!enterAlone()) {
            return state.compareAndSet(free, taken);
        }
        boolean isFree = state.get() == free;
        if (isFree) {
            state.setRelease(taken);
        }
        inside.lower();
        return isFree;
    }

    /** Gives back what was taken. Who has {@linkplain #prepareToWait prepared to wait} is seen after this, or sees it. */
    void giveBack() {
        if (enterAlone()) {
            state.setRelease(free);
            inside.lower();
        } else {
            state.set(free);
        }
    }

    /** Whether the calling thread is the only one, and remains so while it is inside. */
    private boolean enterAlone() {
        if (shared) {
            return false;
        }
        long self = Thread.currentThread().threadId();
        if (owner.get() != self && !owner.compareAndSet(NOBODY, self)) {
            share();
            return false;
        }
        inside.raise();
        if (!contested) {
            return true;
        }
        inside.lower();
        share(); // who contests it is on the way to this
        return false;
    }

    /** The calling thread is about to wait until the turn is given back. */
    void prepareToWait() {
        if (!shared && owner.get() != Thread.currentThread().threadId()) {
            share();
        }
    }

    /** When this returns several threads may come; what the one did until now is visible. */
    private synchronized void share() {
        if (!shared) {
            contested = true;
            fence.run();
            while (inside.isUp()) {
                Thread.onSpinWait(); // a few instructions
            }
            shared = true;
        }
    }
}
