package io.madeleine.pmm;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.locks.LockSupport;

/**
 * A lock that is spun for: of one direction of a connection, held for the length of a copy by whoever moves bytes at the
 * moment, and of the engine's lists. It has no owner: the state it guards is handed from thread to thread.
 *
 * <p>Who holds it does not wait for anything, so that it is nearly always running on a processor. A virtual thread that queued
 * for an ordinary lock could be handed it without having a carrier; whoever needs the lock next, even the leader, would
 * wait until other virtual threads have left one.
 *
 * <p>Threading: thread-safe; not reentrant.
 */
public final class SpinLock {
    private static final VarHandle HELD = heldHandle();
    private static final int SPINS_BEFORE_YIELD = 128;

    /**
     * Virtual threads that only yield may be taken up again and again before one that another thread has made runnable, and
     * that one may be the holder: it has lost its carrier if it met a monitor that was taken, such as a selector's.
     */
    private static final int YIELDS_BEFORE_PAUSE = 16;

    @SuppressWarnings("unused") // through HELD
    private int held;

    /** A free lock. */
    public SpinLock() {}

    private static VarHandle heldHandle() {
        try {
            return MethodHandles.lookup().findVarHandle(SpinLock.class, "held", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /** Takes the lock if it is free. */
    public boolean tryLock() {
        return (int) HELD.getOpaque(this) == 0 && HELD.compareAndSet(this, 0, 1);
    }

    /** Takes the lock within so many nanoseconds; false if its holder does not give it back, having failed perhaps. */
    public boolean tryLock(long timeoutNs) {
        long startNs = System.nanoTime();
        while (!tryLock()) {
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
            if (spins < SPINS_BEFORE_YIELD) {
                Thread.onSpinWait();
            } else if (spins % YIELDS_BEFORE_PAUSE == 0
                    && Thread.currentThread().isVirtual()) {
                LockSupport.parkNanos(this, 1);
            } else {
                Thread.yield();
            }
        }
    }

    /** Gives the lock back. */
    public void unlock() {
        HELD.setRelease(this, 0);
    }
}
