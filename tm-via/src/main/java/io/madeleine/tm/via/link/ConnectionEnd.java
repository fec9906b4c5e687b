package io.madeleine.tm.via.link;

import io.madeleine.api.LossKind;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * How a connection ends, from both sides.
 *
 * <p>Threading: thread-safe; {@link #told} belongs to the thread that polls.
 */
final class ConnectionEnd {
    private final AtomicBoolean closedHere = new AtomicBoolean();
    private final AtomicBoolean buried = new AtomicBoolean();
    private volatile boolean finished;
    private volatile boolean closedThere;
    private volatile String reason = "";
    private volatile LossKind kind = LossKind.CONNECTION;
    private volatile boolean told;

    /** The peer has finished: it sends nothing more, but may receive. */
    synchronized void finished() {
        if (!closedThere) {
            reason = "it has finished";
        }
        finished = true;
    }

    /** The peer's end is closed, or cannot be reached. */
    synchronized void ended(LossKind what, String why) {
        if (!closedThere) {
            if (!finished) { // else the peer has left of its own will, whatever happened to it since
                kind = what;
                reason = why;
            }
            closedThere = true;
        }
    }

    /** Whether nothing more will arrive. */
    boolean isReached() {
        return finished || closedThere;
    }

    /** Whether the peer receives nothing more. */
    boolean isClosedThere() {
        return closedThere;
    }

    /** Whether the peer has finished of its own will. */
    boolean isOrderly() {
        return finished;
    }

    LossKind kind() {
        return kind;
    }

    String reason() {
        return reason;
    }

    /** This end is closed or given up; returns whether it was open before. */
    boolean closeHere() {
        return closedHere.compareAndSet(false, true);
    }

    boolean isClosedHere() {
        return closedHere.get();
    }

    /** Returns true the first time. */
    boolean buryOnce() {
        return buried.compareAndSet(false, true);
    }

    boolean isTold() {
        return told;
    }

    /** The layer above has been told. */
    void told() {
        told = true;
    }
}
