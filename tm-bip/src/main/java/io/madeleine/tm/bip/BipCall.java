package io.madeleine.tm.bip;

import io.madeleine.pmm.handshake.PendingConnection;

/**
 * The attempts to reach the peer of one request.
 *
 * <p>Threading: under the manager's lock.
 */
final class BipCall {
    private final BipAdapter adapter;
    private final PendingConnection wanted;
    private String silence = "";
    private boolean isAnswered;

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
            adapter.callAgain(this);
        }
    }
}
