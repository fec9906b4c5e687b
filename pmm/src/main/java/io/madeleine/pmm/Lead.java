package io.madeleine.pmm;

import io.madeleine.pmm.spi.Reactor;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The lead, which one thread at a time holds: it polls for everybody. Who closes the engine takes it for good.
 *
 * <p>Threading: thread-safe.
 */
final class Lead {
    private static final long CLOSE_TIMEOUT_NS = 5_000_000_000L;
    private static final long NOBODY = -1;

    /** The id of the thread, not the thread: storing a reference costs a fence under some collectors. */
    private final AtomicLong holder = new AtomicLong(NOBODY);

    private volatile boolean closed;
    private volatile boolean over;

    /** How often it has been taken; written by the holder. */
    private final AtomicInteger takes = new AtomicInteger();

    boolean isHeld() {
        return holder.get() != NOBODY;
    }

    boolean isHeldBy(Thread thread) {
        return holder.get() == thread.threadId();
    }

    /** Whether nobody may take it any more. */
    boolean isClosed() {
        return closed;
    }

    /** Takes the lead if it is free; {@link #release} follows. */
    boolean tryTake(Thread self) {
        if (closed || holder.get() != NOBODY || !holder.compareAndSet(NOBODY, self.threadId())) {
            return false;
        }
        if (closed) { // who closes looks at the holder after saying so
            holder.set(NOBODY);
            return false;
        }
        takes.setOpaque(takes.getPlain() + 1);
        return true;
    }

    /** How often it has been taken, roughly: who sees the same number twice knows that nobody has held it in between. */
    int takeCount() {
        return takes.getOpaque();
    }

    /** Lets the lead go if the caller has it: a handler that it called may have let it go before. */
    void release() {
        if (isHeldBy(Thread.currentThread())) {
            holder.set(NOBODY);
        }
    }

    /** From now on nobody takes it. */
    void close() {
        closed = true;
    }

    /**
     * After {@link #close}: takes the lead from whoever has it still, who is woken until it lets go; gives up after some seconds.
     * The first caller has it for good.
     */
    void takeForGood(Reactor reactor) {
        long self = Thread.currentThread().threadId();
        long giveUpNs = System.nanoTime() + CLOSE_TIMEOUT_NS;
        while (!over && holder.get() != self && giveUpNs - System.nanoTime() > 0) {
            if (holder.compareAndSet(NOBODY, self)) {
                break;
            }
            reactor.wakeUp();
            Thread.yield();
        }
        over = true;
    }
}
