package io.madeleine.tm.tcp;

import java.util.function.IntSupplier;

/**
 * What the reactor watches a wire for. Several threads change what that depends on; who changes something does so first and then
 * calls {@link #update}, so that the last one sees all.
 *
 * <p>Threading: thread-safe.
 */
final class Interest {
    private static final int UNKNOWN = -1;

    private final Wire wire;
    private final IntSupplier wanted;
    private volatile int operations;
    private boolean ended;

    /** {@code wanted} tells the operations of {@link java.nio.channels.SelectionKey} that matter now. */
    Interest(Wire wire, IntSupplier wanted) {
        this.wire = wire;
        this.wanted = wanted;
    }

    /** Makes the reactor watch for what matters now. */
    void update() {
        if (operations != wanted.getAsInt()) {
            change();
        }
    }

    private synchronized void change() {
        int now = wanted.getAsInt();
        if (operations != now && !ended) {
            operations = UNKNOWN; // should the wire lack memory for it: then the next update says it again
            wire.interest(now);
            operations = now;
        }
    }

    /** What the reactor watches for, from its next sleep on. */
    int operations() {
        return operations;
    }

    /** From now on the wire is somebody else's; returns false if it was before. */
    synchronized boolean end() {
        boolean first = !ended;
        ended = true;
        return first;
    }
}
