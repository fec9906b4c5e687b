package io.madeleine.pmm;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.locks.LockSupport;

/**
 * A lock that is spun for: of one direction of a connection, held for the length of a copy by whoever moves bytes at the
 * moment, and of the engine's lists.
 *
 * <p>Who holds it does not wait for anything, so that it is nearly always running on a processor. A virtual thread that queued
 * for an ordinary lock could be handed it without having a carrier; whoever needs the lock next, even the leader, would
 * wait until other virtual threads have left one.
 *
 * <p>An error may leave it locked: that of memory which was cut short comes some time after the access, when the thread gives
 * way to the JVM, and so perhaps between the taking of a lock and the {@code try} behind it. The same thread gets it anew
 * then, since it cannot be within what the lock guards; any other thread takes it from its holder after five seconds of its own
 * turns, in which the whole process may have been stopped for longer.
 *
 * <p>Threading: thread-safe; not reentrant.
 */
public final class SpinLock {
    private static final System.Logger LOGGER = System.getLogger("io.madeleine.pmm");
    private static final VarHandle HOLDER = holderHandle();
    private static final long NOBODY = 0; // no thread has that id
    private static final long LONGEST_HOLD_NS = 5_000_000_000L;
    private static final long LONGEST_TURN_NS = 1_000_000;
    private static final int SPINS_BEFORE_YIELD = 128;

    /**
     * Virtual threads that only yield may be taken up again and again before one that another thread has made runnable, and
     * that one may be the holder: it has lost its carrier if it met a monitor that was taken, such as a selector's.
     */
    private static final int YIELDS_BEFORE_PAUSE = 16;

    @SuppressWarnings("unused") // through HOLDER
    private long holder;

    /** A free lock. */
    public SpinLock() {}

    private static VarHandle holderHandle() {
        try {
            return MethodHandles.lookup().findVarHandle(SpinLock.class, "holder", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /** Takes the lock if it is free. */
    public boolean tryLock() {
        return (long) HOLDER.getOpaque(this) == NOBODY
                && HOLDER.compareAndSet(this, NOBODY, Thread.currentThread().threadId());
    }

    /** Takes the lock within so many nanoseconds; false if its holder does not give it back, having failed perhaps. */
    public boolean tryLock(long timeoutNs) {
        long startNs = System.nanoTime();
        while (!tryLock() && !isHeldByCaller()) {
            if (System.nanoTime() - startNs >= timeoutNs) {
                return false;
            }
            Thread.yield();
        }
        return true;
    }

    /** Takes the lock. */
    public void lock() {
        for (int spins = 0; !tryLock(); spins++) {
            if (spins == SPINS_BEFORE_YIELD) {
                lockPatiently();
                return;
            }
            Thread.onSpinWait();
        }
    }

    private void lockPatiently() {
        boolean isVirtual = Thread.currentThread().isVirtual();
        long waitedNs = 0;
        long lastNs = System.nanoTime();
        for (int yields = 0; !tryLock() && !isHeldByCaller(); yields++) {
            if (isVirtual && yields % YIELDS_BEFORE_PAUSE == 0) {
                LockSupport.parkNanos(this, 1);
            } else {
                Thread.yield();
            }
            long nowNs = System.nanoTime();
            waitedNs += Math.min(nowNs - lastNs, LONGEST_TURN_NS);
            lastNs = nowNs;
            if (waitedNs >= LONGEST_HOLD_NS) {
                if (isTakenFromHolder()) {
                    return;
                }
                waitedNs = 0; // another has it now
            }
        }
    }

    /** If the caller wants to take it, an error has left it locked. */
    private boolean isHeldByCaller() {
        return (long) HOLDER.getOpaque(this) == Thread.currentThread().threadId();
    }

    private boolean isTakenFromHolder() {
        long from = (long) HOLDER.getOpaque(this);
        if (from == NOBODY
                || !HOLDER.compareAndSet(this, from, Thread.currentThread().threadId())) {
            return false;
        }
        LOGGER.log(
                System.Logger.Level.WARNING,
                "thread " + from + " has not given back a lock for " + LONGEST_HOLD_NS / 1_000_000_000
                        + " s, after an error perhaps: it is taken from it");
        return true;
    }

    /** Gives the lock back, unless it was taken from the calling thread. */
    public void unlock() {
        if (isHeldByCaller()) {
            HOLDER.setRelease(this, NOBODY);
        }
    }
}
