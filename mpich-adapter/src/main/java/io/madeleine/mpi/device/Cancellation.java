package io.madeleine.mpi.device;

import io.madeleine.mpi.MpiFault;

/**
 * Takes back sends and receives that nothing has matched. It never waits.
 *
 * <p>Threading: thread-safe.
 */
final class Cancellation {
    private final Peers peers;
    private final Matching matching;
    private final Controls controls;

    Cancellation(Peers peers, Matching matching, Controls controls) {
        this.peers = peers;
        this.matching = matching;
        this.controls = controls;
    }

    /**
     * Tries to cancel a send that has not been matched. The send is then done as cancelled, or ends well if it was
     * matched after all. A send that has left eagerly cannot be cancelled.
     */
    void cancel(SendOperation send) {
        if (send.isDone()) {
            return;
        }
        if (send.target() == peers.own()) {
            if (withdrawOwn(send)) {
                send.wasCancelled();
            }
        } else if (send.identity() != 0) {
            peers.get(send.target()).post(controls.take(Header.CANCEL, send.context(), send.tag(), send.identity(), 0));
        }
    }

    /** A process that a send concerns is lost: asks the receiver to forget the message, unless it has been matched. */
    void giveUp(SendOperation send, MpiFault why) {
        send.becomePointless(why);
        cancel(send);
    }

    private boolean withdrawOwn(SendOperation send) {
        matching.lock.lock();
        try {
            Arrived arrived = matching.find(send.context(), peers.own(), send.tag());
            while (arrived != null) {
                if (arrived.own == send) {
                    matching.remove(arrived);
                    matching.give(arrived);
                    return true;
                }
                arrived = matching.after(arrived);
            }
            return false;
        } finally {
            matching.lock.unlock();
        }
    }

    /** Cancels a receive that nothing has matched; it is then done. Does nothing otherwise. */
    void cancel(ReceiveOperation receive) {
        boolean isOut;
        matching.lock.lock();
        try {
            isOut = matching.withdraw(receive);
        } finally {
            matching.lock.unlock();
        }
        if (isOut) {
            receive.wasCancelled();
        }
    }
}
