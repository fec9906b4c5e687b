package io.madeleine.pmm;

import io.madeleine.pmm.spi.Reactor;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * The lead, which one thread at a time holds: it polls for everybody. Who closes the engine takes it for good.
 *
 * <p>Threading: thread-safe.
 */
final class Lead {
    private static final long CLOSE_TIMEOUT_NS = 5_000_000_000L;
    private static final VarHandle HOLDER = holderHandle();

    private volatile @Nullable Thread holder;
    private volatile boolean closed;
    private volatile boolean over;

    /** How often it has been taken; written by the holder. */
    private final AtomicInteger takes = new AtomicInteger();

    private static VarHandle holderHandle() {
        try {
            return MethodHandles.lookup().findVarHandle(Lead.class, "holder", Thread.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    boolean isHeld() {
        return holder != null;
    }

    boolean isHeldBy(Thread thread) {
        return holder == thread;
    }

    /** Whether nobody may take it any more. */
    boolean isClosed() {
        return closed;
    }

    /** Takes the lead if it is free; {@link #release} follows. */
    boolean tryTake(Thread self) {
        if (closed || holder != null || !HOLDER.compareAndSet(this, null, self)) {
            return false;
        }
        if (closed) { // who closes looks at the holder after saying so
            holder = null;
            return false;
        }
        takes.setOpaque(takes.getPlain() + 1);
        return true;
    }

    /** How often it has been taken, roughly: who sees the same number twice knows that nobody has held it in between. */
    int takeCount() {
        return takes.getOpaque();
    }

    /** Lets the lead go. */
    void release() {
        holder = null;
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
        Thread self = Thread.currentThread();
        long giveUpNs = System.nanoTime() + CLOSE_TIMEOUT_NS;
        while (!over && holder != self && giveUpNs - System.nanoTime() > 0) {
            if (holder == null && HOLDER.compareAndSet(this, null, self)) {
                break;
            }
            reactor.wakeUp();
            Thread.yield();
        }
        over = true;
    }
}
