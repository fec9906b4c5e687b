package io.madeleine.pmm;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * A lock that is spun for: of one direction of a connection, held for the length of a copy by whoever moves bytes at the
 * moment, and of the engine's lists. It has no owner: the state it guards is handed from thread to thread.
 *
 * <p>Who holds it must not wait for anything, so that it is always running on a processor. A virtual thread that queued
 * for an ordinary lock could be handed it without having a carrier; whoever needs the lock next, even the leader, would
 * wait until other virtual threads have left one.
 *
 * <p>Threading: thread-safe; not reentrant.
 */
public final class SpinLock {
    private static final VarHandle HELD = heldHandle();
    private static final int SPINS_BEFORE_YIELD = 128;

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

    /** Takes the lock. */
    public void lock() {
        for (int spins = 0; !tryLock(); spins++) {
            if (spins < SPINS_BEFORE_YIELD) {
                Thread.onSpinWait();
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
