package io.madeleine.tm.bip;

import io.madeleine.pmm.handshake.PendingConnection;
import java.util.concurrent.ThreadLocalRandom;

/**
 * The attempts to reach the peer of one request. Between them lie pauses, which grow and have a random part: a peer
 * that sends many callers away is not called by all of them at once.
 *
 * <p>Threading: under the manager's lock.
 */
final class BipCall {
    private static final long FIRST_PAUSE_NS = 10_000_000;
    private static final int MOST_DOUBLINGS = 5;

    private final BipAdapter adapter;
    private final PendingConnection wanted;
    private String silence = "";
    private boolean isAnswered;
    private int failures;
    private volatile long dueNs;

    BipCall(BipAdapter adapter, PendingConnection wanted) {
        this.adapter = adapter;
        this.wanted = wanted;
    }

    PendingConnection wanted() {
        return wanted;
    }

    /** An attempt begins; the error text says this if the peer answers none. */
    void begin(String whileSilent) {
        if (silence.isEmpty()) {
            wanted.note(whileSilent);
        }
        silence = whileSilent;
    }

    /** The peer has answered an attempt, whose handshake goes on. */
    void answered() {
        if (!isAnswered) {
            isAnswered = true;
            wanted.note("the handshake with the peer, which has answered, was not over");
        }
    }

    /**
     * An attempt has failed, and neither side has refused: makes another one, until the deadline of the request. The
     * error text says why the attempt failed, if the peer has answered one.
     *
     * @param answered whether the peer has answered this attempt
     */
    void again(boolean answered) {
        isAnswered |= answered;
        if (!isAnswered) {
            wanted.note(silence);
        }
        if (!wanted.isDone()) {
            long mostNs = FIRST_PAUSE_NS << Math.min(failures++, MOST_DOUBLINGS);
            dueNs = System.nanoTime() + mostNs / 2 + ThreadLocalRandom.current().nextLong(mostNs / 2);
            adapter.callAgain(this);
        }
    }

    /** How long the next attempt waits yet; not above 0 if it is due. */
    long untilDueNs(long nowNs) {
        return dueNs - nowNs;
    }
}
