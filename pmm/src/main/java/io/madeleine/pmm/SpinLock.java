package io.madeleine.pmm;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.locks.LockSupport;

/**
 * A spin lock. It guards one direction of a connection, for the length of a copy by the thread that moves bytes, and
 * the engine's lists.
 *
 * <p>Its holder never waits, so it nearly always runs on a processor. An ordinary lock could be handed to a queued
 * virtual thread that has no carrier; the next thread that needs the lock, even the leader, would then wait until other
 * virtual threads have left a carrier.
 *
 * <p>An error may leave the lock locked. The JVM throws the error for truncated shared memory some time after the
 * access, at a safepoint, and so possibly between taking a lock and the {@code try} behind it. The same thread then
 * gets the lock again, because it cannot be inside what the lock guards. Any other thread takes the lock from its
 * holder after it has tried for five seconds, not counting times in which the whole process was stopped.
 *
 * <p>Threading: thread-safe; not reentrant.
 */
public final class SpinLock {
    private static final System.Logger LOGGER = System.getLogger("io.madeleine.pmm");
    private static final VarHandle HOLDER = holderHandle();
    private static final long NOBODY = 0; // no thread has this id
    private static final long LONGEST_HOLD_NS = 5_000_000_000L;
    private static final long LONGEST_TURN_NS = 1_000_000;
    private static final int SPINS_BEFORE_YIELD = 128;

    /**
     * How often a virtual thread yields before it parks briefly. The scheduler may resume virtual threads that only
     * yield again and again before it runs one that another thread has made runnable. That one may be the holder: it
     * lost its carrier if it met a contended monitor, such as a selector's.
     */
    private static final int YIELDS_BEFORE_PAUSE = 16;

    @SuppressWarnings("unused") // accessed through HOLDER
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

    /**
     * Takes the lock within this many nanoseconds; returns false if its holder does not release it, perhaps because it
     * failed.
     */
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
                waitedNs = 0; // another thread has it now
            }
        }
    }

    /** Whether the caller has the lock; if it wants to take it, an error has left it locked. */
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
                "thread " + from + " has held a lock for " + LONGEST_HOLD_NS / 1_000_000_000
                        + " s, perhaps because an error left it locked; another thread takes the lock from it");
        return true;
    }

    /** Releases the lock, unless another thread has taken it from the caller. */
    public void unlock() {
        if (isHeldByCaller()) {
            HOLDER.setRelease(this, NOBODY);
        }
    }
}
