package io.madeleine.testkit;

import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Detects two threads in a section that only one may enter: one half of a connection, or the polling of an adapter.
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
            throw fabric.violation(what + ": " + self + " entered while " + inside.get()
                    + " was inside; expected one thread at a time");
        }
    }

    void leave() {
        inside.set(null);
    }
}
