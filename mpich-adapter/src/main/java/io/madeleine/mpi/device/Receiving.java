package io.madeleine.mpi.device;

import io.madeleine.mpi.MpiFault;

/**
 * Starts receives: they take the oldest message that has arrived and matches, or are posted for those to come.
 *
 * <p>Threading: thread-safe.
 */
final class Receiving {
    private final Peers peers;
    private final Matching matching;
    private final Delivery delivery;

    Receiving(Peers peers, Matching matching, Delivery delivery) {
        this.peers = peers;
        this.matching = matching;
        this.delivery = delivery;
    }

    /** Starts a receive. Never waits. */
    void receive(ReceiveOperation receive) {
        receive.start();
        Arrived arrived;
        MpiFault lost = null;
        matching.lock.lock();
        try {
            arrived = matching.find(receive.context(), receive.wantedSource(), receive.wantedTag());
            if (arrived != null) {
                matching.remove(arrived);
                if (arrived.stage == Arrived.Stage.ARRIVING) {
                    arrived.claimedBy = receive;
                    return;
                }
            } else {
                lost = peers.hasLosses() ? peers.lossAmong(receive::concerns) : null;
                if (lost == null) {
                    matching.post(receive);
                }
            }
        } finally {
            matching.lock.unlock();
        }
        if (arrived != null) {
            delivery.deliver(arrived, receive);
        } else if (lost != null) {
            receive.failed(lost);
        }
    }

    /** Receives a message that a matched probe has taken. Never waits. */
    void receiveProbed(Arrived arrived, ReceiveOperation receive) {
        receive.start();
        matching.lock.lock();
        try {
            if (arrived.stage == Arrived.Stage.ARRIVING) {
                arrived.claimedBy = receive;
                return;
            }
        } finally {
            matching.lock.unlock();
        }
        delivery.deliver(arrived, receive);
    }
}
