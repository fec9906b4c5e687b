package io.madeleine.mpi.device;

import io.madeleine.mpi.FreedMemory;

/**
 * Messages of this process to itself: they pass through no channel, but are matched as all others.
 *
 * <p>Threading: thread-safe.
 */
final class SelfSending {
    private final Peer self;
    private final Matching matching;
    private final Delivery delivery;
    private final Probing probing;
    private final int eagerBytes;

    SelfSending(Peer self, Matching matching, Delivery delivery, Probing probing, int eagerBytes) {
        this.self = self;
        this.matching = matching;
        this.delivery = delivery;
        this.probing = probing;
        this.eagerBytes = eagerBytes;
    }

    /** Starts a send. */
    void send(SendOperation send) {
        long bytes = send.payload().bytes();
        boolean isKept = false;
        ReceiveOperation receive;
        matching.lock.lock();
        try {
            receive = matching.takePosted(send.context(), self.rank, send.tag());
            if (receive == null) {
                isKept = send.mode() == SendMode.STANDARD && bytes <= eagerBytes && self.takeCredits(Peer.cost(bytes));
                matching.keep(ownMessage(send, isKept), send.context());
            }
        } finally {
            matching.lock.unlock();
        }
        if (receive == null) {
            probing.arrived();
        } else {
            long taken = receive.matched(self.rank, send.tag(), bytes);
            RuntimeException failure = null;
            try {
                send.payload().copyTo(receive.payload(), taken);
            } catch (RuntimeException e) { // the memory of one of them was freed
                FreedMemory.clearInterrupt(e);
                failure = e;
            }
            delivery.bodyArrived(receive, false, taken, failure);
        }
        if (receive != null || isKept) {
            send.end();
        }
    }

    private Arrived ownMessage(SendOperation send, boolean isKept) {
        long bytes = send.payload().bytes();
        Arrived arrived = matching.newArrived();
        arrived.source = self.rank;
        arrived.tag = send.tag();
        arrived.bytes = bytes;
        arrived.sender = 0;
        arrived.hasCredits = isKept;
        if (!isKept) {
            arrived.stage = Arrived.Stage.OWN;
            arrived.own = send;
        } else if (bytes <= Arrived.INLINE_BYTES) {
            arrived.stage = Arrived.Stage.INLINE;
            send.payload().copyTo(arrived.inline, 0, bytes);
        } else {
            arrived.stage = Arrived.Stage.KEPT;
            KeptMemory.Block block = matching.memory.take(bytes);
            arrived.block = block;
            send.payload().copyTo(block.segment, 0, bytes);
        }
        return arrived;
    }
}
