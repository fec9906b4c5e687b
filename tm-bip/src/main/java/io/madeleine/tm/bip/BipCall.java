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

    BipCall(BipAdapter adapter, PendingConnection wanted) {
        this.adapter = adapter;
        this.wanted = wanted;
    }

    PendingConnection wanted() {
        return wanted;
    }

    /** An attempt has failed, and neither side has refused: makes another one, until the deadline of the request. */
    void again() {
        if (!wanted.isDone()) {
            adapter.callAgain(this);
        }
    }
}
