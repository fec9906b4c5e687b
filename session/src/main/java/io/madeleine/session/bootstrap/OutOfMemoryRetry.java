package io.madeleine.session.bootstrap;

import java.util.concurrent.locks.LockSupport;

/**
 * Helps threads of the session that run out of memory. They pause and repeat their work, since other threads depend on
 * it.
 *
 * <p>Threading: any thread.
 */
public final class OutOfMemoryRetry {
    private static final long PAUSE_NS = 10_000_000;

    private OutOfMemoryRetry() {}

    /** Loads the classes that {@link #pause} needs. Call it while there is memory. */
    static void prepare() {
        LockSupport.parkNanos(1);
    }

    /** Waits a moment for other threads to free memory. */
    public static void pause() {
        try {
            LockSupport.parkNanos(PAUSE_NS);
        } catch (OutOfMemoryError _) {
            Thread.yield();
        }
    }
}
