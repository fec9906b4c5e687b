package io.madeleine.pmm;

import io.madeleine.pmm.spi.Reactor;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * The lead, which one thread at a time holds: it polls for everybody. Who closes the engine takes it for good.
 *
 * <p>Threading: thread-safe.
 */
final class Lead {
    private static final long CLOSE_TIMEOUT_NS = 5_000_000_000L;
    private static final VarHandle HOLDER = handle("holder", long.class);
    private static final VarHandle TAKES = handle("takes", int.class);

    static final long NOBODY = -1;

    /**
     * The id of the thread, not the thread: storing a reference costs a fence under some collectors. Who may be near the end of
     * its stack, as threads of the user, lets go by this field alone: for a call there may be no room.
     */
    volatile long holder = NOBODY;

    private volatile boolean closed;
    private volatile boolean over;

    /** How often it has been taken; written by the holder. */
    @SuppressWarnings("UnusedVariable") // read by TAKES
    private int takes;

    private static VarHandle handle(String field, Class<?> type) {
        try {
            return MethodHandles.lookup().findVarHandle(Lead.class, field, type);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    boolean isHeld() {
        return holder != NOBODY;
    }

    boolean isHeldBy(Thread thread) {
        return holder == thread.threadId();
    }

    /** Whether nobody may take it any more. */
    boolean isClosed() {
        return closed;
    }

    /** Takes the lead if it is free; {@link #release} follows. Once it is taken nothing is called, so that nothing can fail. */
    boolean tryTake(Thread self) {
        if (closed || holder != NOBODY || !HOLDER.compareAndSet(this, NOBODY, self.threadId())) {
            return false;
        }
        if (closed) { // who closes looks at the holder after saying so
            holder = NOBODY;
            return false;
        }
        takes++; // before the lead is let go, whoever looks at it
        return true;
    }

    /** How often it has been taken, roughly: who sees the same number twice knows that nobody has held it in between. */
    int takeCount() {
        return (int) TAKES.getOpaque(this);
    }

    /** Lets the lead go if the caller has it: a handler that it called may have let it go before. */
    void release() {
        if (isHeldBy(Thread.currentThread())) {
            holder = NOBODY;
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
        while (!over && holder != self && giveUpNs - System.nanoTime() > 0) {
            if (HOLDER.compareAndSet(this, NOBODY, self)) {
                break;
            }
            reactor.wakeUp();
            Thread.yield();
        }
        over = true;
    }
}
