package io.madeleine.mpi.device;

import io.madeleine.api.MadeleineException;
import io.madeleine.mpi.ErrorClass;
import io.madeleine.mpi.FreedMemory;
import io.madeleine.mpi.MpiFault;
import java.lang.foreign.MemorySegment;

/**
 * Starts messages: eagerly if they are short and there are credits, with a request to send otherwise.
 *
 * <p>Threading: thread-safe.
 */
final class Sending {
    private final Peers peers;
    private final OperationTable<Operation> operations;
    private final Controls controls;
    private final Cancellation cancellation;
    private final SelfSending selfSending;
    private final Faults faults;
    private final int eagerBytes;

    Sending(
            Peers peers,
            OperationTable<Operation> operations,
            Controls controls,
            Cancellation cancellation,
            SelfSending selfSending,
            Faults faults,
            int eagerBytes) {
        this.peers = peers;
        this.operations = operations;
        this.controls = controls;
        this.cancellation = cancellation;
        this.selfSending = selfSending;
        this.faults = faults;
        this.eagerBytes = eagerBytes;
    }

    /** Starts a send. Never waits. */
    void send(SendOperation send) {
        send.start();
        long bytes = send.payload().bytes();
        if (send.target() == peers.own()) {
            selfSending.send(send);
            return;
        }
        Peer peer = peers.get(send.target());
        MpiFault lost = peer.failure();
        if (lost == null && peers.hasLosses()) {
            lost = peers.lossAmong(send::concerns);
        }
        if (lost != null) {
            send.failed(lost);
        } else if (bytes <= eagerBytes && peer.takeCredits(Peer.cost(bytes))) {
            send.sendEager(peer, send.mode() == SendMode.STANDARD ? 0 : operations.add(send));
        } else {
            send.requestToSend(peer, operations.add(send));
            lost = peers.hasLosses() ? peers.lossAmong(send::concerns) : null;
            if (lost != null) { // while it was started
                cancellation.giveUp(send, lost);
            }
        }
    }

    /**
     * Sends an eager message and waits until its memory may be reused, without an operation.
     *
     * @return false if the message cannot be sent this way; nothing has happened then
     */
    boolean sendNow(MemorySegment segment, long offset, long bytes, int target, long context, int tag) {
        if (bytes > eagerBytes || target == peers.own()) {
            return false;
        }
        try {
            return peers.get(target).sendNow(segment, offset, bytes, context, tag);
        } catch (MadeleineException | IllegalStateException e) {
            // The peer is lost, the wait was interrupted, or the memory was freed: nothing was sent.
            FreedMemory.clearInterrupt(e);
            throw faults.of(e, "a send of " + bytes + " bytes");
        }
    }

    /**
     * As {@link #sendNow}, if the message can leave at once; never waits.
     *
     * @return false if it cannot; nothing has happened then
     */
    boolean trySend(MemorySegment segment, long offset, long bytes, int target, long context, int tag) {
        return bytes <= Math.min(NowHeaders.BODY_BYTES, eagerBytes)
                && target != peers.own()
                && peers.get(target).trySendEager(segment, offset, bytes, context, tag);
    }

    /**
     * Tells the receiver of a message that the message will not come, because its operation has failed. The send is not
     * started. Never waits.
     *
     * @param culprit the rank where the operation failed first
     * @param errorClass one of {@link ErrorClass}
     */
    void sendFailure(SendOperation instead, int culprit, int errorClass) {
        Peer peer = peers.get(instead.target());
        if (peer.failure() == null) {
            peer.post(controls.take(Header.FAILURE, instead.context(), instead.tag(), culprit, errorClass));
        }
    }
}
