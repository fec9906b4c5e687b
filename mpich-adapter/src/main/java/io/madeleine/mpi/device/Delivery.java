package io.madeleine.mpi.device;

import io.madeleine.mpi.ErrorClass;
import io.madeleine.mpi.FreedMemory;
import io.madeleine.mpi.MpiFault;
import org.jspecify.annotations.Nullable;

/**
 * Completes a message and a receive that have been matched: moves the body to its place, answers the sender, and ends
 * the receive.
 *
 * <p>Threading: thread-safe.
 */
final class Delivery {
    private final Peers peers;
    private final Matching matching;
    private final OperationTable<Operation> operations;
    private final Controls controls;
    private final Faults faults;

    Delivery(Peers peers, Matching matching, OperationTable<Operation> operations, Controls controls, Faults faults) {
        this.peers = peers;
        this.matching = matching;
        this.operations = operations;
        this.controls = controls;
        this.faults = faults;
    }

    /** Moves the body of a message that has arrived to the receive that has matched it. */
    void deliver(Arrived arrived, ReceiveOperation receive) {
        Peer peer = peers.get(arrived.source);
        SendOperation own = arrived.own;
        if (arrived.stage == Arrived.Stage.REQUESTED) {
            int sender = arrived.sender;
            int tag = arrived.tag;
            long bytes = arrived.bytes;
            giveUp(arrived);
            clear(peer, receive, tag, bytes, sender);
            return;
        }
        if (arrived.stage == Arrived.Stage.FAILURE) {
            int culprit = arrived.sender;
            int errorClass = (int) arrived.bytes;
            giveUp(arrived);
            receive.failedAt(culprit, errorClass);
            return;
        }
        long taken = receive.matched(arrived.source, arrived.tag, arrived.bytes);
        KeptMemory.Block block = arrived.block;
        RuntimeException failure = null;
        try {
            if (own != null) {
                own.payload().copyTo(receive.payload(), taken);
            } else if (block == null) {
                receive.payload().copyFrom(arrived.inline, 0, taken);
            } else {
                receive.payload().copyFrom(block.segment, 0, taken);
            }
        } catch (RuntimeException e) { // the memory of one of them was freed
            FreedMemory.clearInterrupt(e);
            failure = e;
        }
        int sender = arrived.sender;
        giveUp(arrived);
        if (sender != 0) {
            acknowledge(peer, sender);
        }
        if (own != null) {
            own.end();
        }
        bodyArrived(receive, false, taken, failure);
    }

    /** Gives up a message: returns its credits and its memory. */
    void giveUp(Arrived arrived) {
        Peer peer = peers.get(arrived.source);
        long bytes = arrived.bytes;
        boolean hasCredits = arrived.hasCredits;
        matching.lock.lock();
        try {
            matching.give(arrived);
        } finally {
            matching.lock.unlock();
        }
        if (hasCredits) {
            returnCredits(peer, Peer.cost(bytes));
        }
    }

    /** An eager message was matched when it arrived. Called by the handler of arriving messages. */
    void consumed(Peer peer, long bytes, int sender) {
        if (peer.rank == peers.own()) {
            peer.addCredits(Peer.cost(bytes));
        } else if (peer.oweByHandler(Peer.cost(bytes))) {
            returnOwed(peer);
        }
        if (sender != 0) {
            acknowledge(peer, sender);
        }
    }

    private void returnCredits(Peer peer, int cost) {
        if (peer.rank == peers.own()) {
            peer.addCredits(cost);
        } else if (peer.owe(cost)) {
            returnOwed(peer);
        }
    }

    private void returnOwed(Peer peer) {
        peer.post(controls.take(Header.CREDIT, 0, 0, 0, 0));
    }

    private void acknowledge(Peer peer, int sender) {
        peer.post(controls.take(Header.ACKNOWLEDGE, 0, 0, sender, 0));
    }

    /** A request to send is matched: tells its sender to send as much as the receive takes. */
    void clear(Peer peer, ReceiveOperation receive, int tag, long bytes, int sender) {
        long taken = receive.matched(peer.rank, tag, bytes);
        int identity = 0;
        if (taken > 0) {
            identity = operations.add(receive);
            receive.expect(identity, taken);
        }
        peer.post(controls.take(Header.CLEAR_TO_SEND, 0, identity, sender, taken));
        if (taken == 0) {
            receive.received();
        } else if (peer.failure() != null) {
            receive.fragmentFailed(lossOf(peer)); // perhaps lost before the receive was in the table
        }
    }

    private static MpiFault lossOf(Peer peer) {
        MpiFault why = peer.failure();
        return why == null ? new MpiFault(ErrorClass.PROC_ABORTED, "rank " + peer.rank + " is lost") : why;
    }

    /** A body, or a fragment of one, has arrived in the memory of its receive. */
    void bodyArrived(ReceiveOperation receive, boolean isFragment, long bytes, @Nullable RuntimeException failure) {
        if (failure == null) {
            if (isFragment) {
                receive.fragmentArrived(bytes);
            } else {
                receive.received();
            }
            return;
        }
        MpiFault why = faults.of(failure, receive.describe());
        if (isFragment) {
            receive.fragmentFailed(why);
        } else {
            receive.failed(why);
        }
    }

    /** A body has arrived in kept memory. */
    void bodyKept(Arrived arrived, @Nullable RuntimeException failure) {
        ReceiveOperation claimed;
        matching.lock.lock();
        try {
            claimed = arrived.claimedBy;
            arrived.stage = Arrived.Stage.KEPT;
            if (failure != null && arrived.byTag.isIn) {
                matching.remove(arrived); // its sender is lost: nobody will receive it
            }
        } finally {
            matching.lock.unlock();
        }
        if (claimed != null && failure != null) {
            claimed.failed(faults.of(failure, claimed.describe()));
        } else if (claimed != null) {
            deliver(arrived, claimed);
        }
    }
}
