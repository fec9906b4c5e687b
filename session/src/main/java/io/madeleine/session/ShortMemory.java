package io.madeleine.session;

import java.util.concurrent.locks.LockSupport;

/**
 * What threads of the session's own do that lack memory: they pause, and do the same once more, since others depend on it.
 *
 * <p>Threading: any thread.
 */
final class ShortMemory {
    private static final long PAUSE_NS = 10_000_000;

    private ShortMemory() {}

    /** To be called while there is memory: what is needed later is loaded by then. */
    static void prepare() {
        LockSupport.parkNanos(1);
    }

    /** Waits for others to give memory back. */
    static void pause() {
        try {
            LockSupport.parkNanos(PAUSE_NS);
        } catch (OutOfMemoryError _) {
            Thread.yield();
        }
    }
}
