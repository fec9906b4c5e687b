package io.madeleine.tm.bip;

import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * The connections that the thread that polls should look at: something has arrived, or they have ended. Any thread puts
 * a connection on the list; it is on it once at most.
 *
 * <p>Threading: thread-safe.
 */
final class ReadyList {
    private final AtomicReference<@Nullable BipConnection> head = new AtomicReference<>();

    void push(BipConnection connection) {
        if (!connection.isListed.compareAndSet(false, true)) {
            return;
        }
        BipConnection next;
        do {
            next = head.get();
            connection.nextListed = next;
        } while (!head.compareAndSet(next, connection));
    }

    boolean isEmpty() {
        return head.get() == null;
    }

    /** Takes all connections off the list; they are linked by {@link BipConnection#nextListed}. */
    @Nullable
    BipConnection takeAll() {
        return head.get() == null ? null : head.getAndSet(null);
    }
}
