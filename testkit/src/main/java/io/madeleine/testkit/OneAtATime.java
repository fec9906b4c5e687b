package io.madeleine.testkit;

import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Notices when two threads are at once where only one may be: a half of a connection, the polling of an adapter.
 *
 * <p>Threading: thread-safe.
 */
final class OneAtATime {
    private final LoopFabric fabric;
    private final String what;
    private final AtomicReference<@Nullable Thread> inside = new AtomicReference<>();

    OneAtATime(LoopFabric fabric, String what) {
        this.fabric = fabric;
        this.what = what;
    }

    void enter() {
        Thread self = Thread.currentThread();
        if (!inside.compareAndSet(null, self)) {
            throw fabric.violation(what + ": " + self + " came while " + inside.get() + " was there");
        }
    }

    void leave() {
        inside.set(null);
    }
}
