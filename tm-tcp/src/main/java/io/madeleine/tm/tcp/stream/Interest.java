package io.madeleine.tm.tcp.stream;

import io.madeleine.tm.tcp.io.Wire;
import java.util.function.IntSupplier;

/**
 * Keeps the reactor's interest in a wire up to date. Several threads change the state on which the interest depends.
 * Each changes the state first and then calls {@link #update}, so that the last call sees all changes.
 *
 * <p>Threading: thread-safe.
 */
final class Interest {
    private static final int UNKNOWN = -1;

    private final Wire wire;
    private final IntSupplier wanted;
    private volatile int operations;
    private boolean ended;

    /** {@code wanted} returns the operations of {@link java.nio.channels.SelectionKey} to watch now. */
    Interest(Wire wire, IntSupplier wanted) {
        this.wire = wire;
        this.wanted = wanted;
    }

    /** Brings the reactor's interest up to date. */
    void update() {
        if (operations != wanted.getAsInt()) {
            change();
        }
    }

    private synchronized void change() {
        int now = wanted.getAsInt();
        if (operations != now && !ended) {
            operations = UNKNOWN; // if the wire lacks memory for the change, the next update repeats it
            wire.interest(now);
            operations = now;
        }
    }

    /** The operations that the reactor watches from its next sleep on. */
    int operations() {
        return operations;
    }

    /** Leaves the wire to another owner; returns false if it was left before. */
    synchronized boolean end() {
        boolean first = !ended;
        ended = true;
        return first;
    }
}
