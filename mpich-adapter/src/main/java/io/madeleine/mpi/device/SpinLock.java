package io.madeleine.mpi.device;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.locks.LockSupport;

/**
 * A lock for a few instructions. Its holders never wait, so that a thread without a processor or carrier is the worst
 * that can delay them; a virtual thread that finds it taken gives its carrier away.
 *
 * <p>Threading: thread-safe; not reentrant.
 */
final class SpinLock {
    private static final int SPINS = 200;
    private static final int YIELDS = 100;
    private static final long PAUSE_NS = 20_000;
    private static final VarHandle HELD = handle();

    @SuppressWarnings("unused") // through HELD
    private boolean held;

    private static VarHandle handle() {
        try {
            return MethodHandles.lookup().findVarHandle(SpinLock.class, "held", boolean.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    void lock() {
        if (!HELD.compareAndSet(this, false, true)) {
            lockSlowPath();
        }
    }

    private void lockSlowPath() {
        int tries = 0;
        while (true) {
            if (!(boolean) HELD.getOpaque(this) && HELD.compareAndSet(this, false, true)) {
                return;
            }
            tries++;
            if (tries < SPINS) {
                Thread.onSpinWait();
            } else if (tries < SPINS + YIELDS) {
                Thread.yield();
            } else {
                LockSupport.parkNanos(PAUSE_NS); // a virtual thread then leaves its carrier to others
            }
        }
    }

    boolean tryLock() {
        return HELD.compareAndSet(this, false, true);
    }

    void unlock() {
        HELD.setRelease(this, false);
    }
}
