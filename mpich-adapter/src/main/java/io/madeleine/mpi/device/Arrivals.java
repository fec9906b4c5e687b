package io.madeleine.mpi.device;

import io.madeleine.api.Channel;
import io.madeleine.api.IncomingMessage;
import io.madeleine.api.ReceiveMode;
import io.madeleine.api.SendMode;
import io.madeleine.mpi.FreedMemory;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * The handlers of the device's channel: they match what arrives, move bodies to their places, and answer. They never
 * wait. A short message comes as bytes, header and body together.
 *
 * <p>Threading: the channel calls the handlers in one thread at a time; the other methods are thread-safe.
 */
final class Arrivals implements Channel.MessageHandler, Channel.ShortMessageHandler {
    private static final System.Logger LOGGER = System.getLogger("io.madeleine.mpi");

    /** The longest body that is copied a second time, which takes less than the steps of a message. */
    private static final long SHORT_BYTES = 8 << 10;

    private final Peers peers;
    private final Matching matching;
    private final OperationTable<Operation> operations;
    private final Controls controls;
    private final Delivery delivery;
    private final Probing probing;
    private final Losses losses;
    private final MemoryShortage shortage;

    /** The header of a message, and behind it the body of one that has come as bytes. */
    private final MemorySegment header = Arena.ofAuto().allocate(Header.BYTES + SHORT_BYTES, 64);

    private final SpinLock poolLock = new SpinLock();
    private @Nullable Intake free;

    Arrivals(
            Peers peers,
            Matching matching,
            OperationTable<Operation> operations,
            Controls controls,
            Delivery delivery,
            Probing probing,
            Losses losses,
            MemoryShortage shortage) {
        this.peers = peers;
        this.matching = matching;
        this.operations = operations;
        this.controls = controls;
        this.delivery = delivery;
        this.probing = probing;
        this.losses = losses;
        this.shortage = shortage;
    }

    @Override
    public void onMessage(IncomingMessage message) {
        int remote = message.remote();
        try {
            accept(message, remote);
        } catch (OutOfMemoryError e) {
            shortage.lost(remote, e);
            throw e;
        }
    }

    private void accept(IncomingMessage message, int remote) {
        message.unpack(header, 0, Header.EAGER_BYTES, SendMode.SAFER, ReceiveMode.EXPRESS);
        byte kind = Header.kind(header);
        if (kind != Header.EAGER) {
            message.unpack(header, Header.EAGER_BYTES, Header.EAGER_BYTES, SendMode.SAFER, ReceiveMode.EXPRESS);
        }
        Peer peer = sender(remote);
        long bytes = Header.bytes(header);
        switch (kind) {
            case Header.EAGER, Header.EAGER_SYNCHRONOUS -> {
                if (bytes == 0) {
                    end(message);
                    arrivedShort(peer, 0, 0);
                } else {
                    arrivedEager(message, peer, bytes);
                }
            }
            case Header.DATA -> fragment(message, peer, bytes);
            default -> {
                end(message);
                control(kind, peer, bytes);
            }
        }
    }

    /** The memory into which the channel copies short messages. */
    MemorySegment header() {
        return header;
    }

    @Override
    public void onMessage(int remote, long length) {
        try {
            accept(remote, length);
        } catch (OutOfMemoryError e) {
            shortage.lost(remote, e);
            throw e;
        }
    }

    private void accept(int remote, long length) {
        byte kind = Header.kind(header);
        int headerBytes = Header.bytesOf(kind);
        boolean isEager = kind == Header.EAGER || kind == Header.EAGER_SYNCHRONOUS;
        if (length < headerBytes) {
            drop(kind, peers.get(remote), "it has " + length + " bytes: expected those of a header");
            return;
        }
        Peer peer = sender(remote);
        long bytes = Header.bytes(header);
        if (length != headerBytes + (isEager || kind == Header.DATA ? bytes : 0)) {
            drop(kind, peer, "it has " + length + " bytes: expected those of the header and its body");
        } else if (kind == Header.DATA) {
            fragment(bytes);
        } else if (isEager) {
            arrivedShort(peer, headerBytes, bytes);
        } else {
            control(kind, peer, bytes);
        }
    }

    /** The sender of the message whose header has arrived; takes the credits that the header returns. */
    private Peer sender(int remote) {
        Peer peer = peers.get(remote);
        int credits = Header.credits(header);
        if (credits != 0) {
            peer.addCredits(credits);
        }
        return peer;
    }

    private void drop(byte kind, Peer peer, String why) {
        LOGGER.log(
                System.Logger.Level.ERROR,
                "rank " + peers.own() + " dropped a message of kind " + kind + " from rank " + peer.rank + ": " + why
                        + "; do all processes have the same version?");
    }

    private static void end(IncomingMessage message) {
        message.endUnpacking(); // it has no more blocks
        message.close();
    }

    private void control(byte kind, Peer peer, long bytes) {
        switch (kind) {
            case Header.REQUEST_TO_SEND -> requested(peer, bytes);
            case Header.CLEAR_TO_SEND -> {
                if (operations.get(Header.sender(header)) instanceof SendOperation send) {
                    send.clearToSend(peer, Header.tag(header), bytes);
                }
            }
            case Header.ACKNOWLEDGE -> {
                if (operations.get(Header.sender(header)) instanceof SendOperation send) {
                    send.acknowledged();
                }
            }
            case Header.CREDIT -> {
                // the header has returned them
            }
            case Header.CANCEL -> cancel(peer);
            case Header.FAILURE -> failed(peer, (int) bytes);
            case Header.LEAVING -> losses.peerLeft(peer.rank, (int) bytes);
            case Header.CANCEL_ANSWER -> {
                if (bytes == 1 && operations.get(Header.sender(header)) instanceof SendOperation send) {
                    send.wasCancelled();
                }
            }
            default -> drop(kind, peer, "expected a kind from " + Header.EAGER + " to " + Header.LEAVING);
        }
    }

    // ---- eager messages

    /** A message has arrived whose body lies at {@code start} of the header's memory. */
    private void arrivedShort(Peer peer, long start, long bytes) {
        long context = Header.context(header);
        int tag = Header.tag(header);
        int sender = Header.sender(header);
        ReceiveOperation receive;
        matching.lock.lock();
        try {
            receive = matching.takePosted(context, peer.rank, tag);
            if (receive == null) {
                matching.keep(kept(peer, tag, start, bytes, sender), context);
            }
        } finally {
            matching.lock.unlock();
        }
        if (receive == null) {
            probing.arrived();
            return;
        }
        long taken = receive.matched(peer.rank, tag, bytes);
        delivery.consumed(peer, bytes, sender);
        place(receive, false, start, 0, taken);
    }

    /**
     * Copies a body, or a fragment of one, from {@code start} of the header's memory to the place {@code at} of its
     * receive, which fails if its memory was freed.
     */
    private void place(ReceiveOperation receive, boolean isFragment, long start, long at, long bytes) {
        RuntimeException failure = null;
        try {
            receive.payload().copyFrom(header, start, at, bytes);
        } catch (RuntimeException e) {
            FreedMemory.clearInterrupt(e);
            failure = e;
        }
        delivery.bodyArrived(receive, isFragment, bytes, failure);
    }

    /** A copy of the short message that has arrived. */
    private Arrived kept(Peer peer, int tag, long start, long bytes, int sender) {
        if (bytes <= Arrived.INLINE_BYTES) {
            Arrived arrived = newArrived(Arrived.Stage.INLINE, peer, tag, bytes, sender);
            MemorySegment.copy(header, start, arrived.inline, 0, bytes);
            return arrived;
        }
        KeptMemory.Block block = matching.memory.take(bytes);
        Arrived arrived = newArrived(Arrived.Stage.KEPT, peer, tag, bytes, sender);
        MemorySegment.copy(header, start, block.segment, 0, bytes);
        arrived.block = block;
        return arrived;
    }

    private Arrived newArrived(Arrived.Stage stage, Peer peer, int tag, long bytes, int sender) {
        Arrived arrived = matching.newArrived();
        arrived.stage = stage;
        arrived.source = peer.rank;
        arrived.tag = tag;
        arrived.bytes = bytes;
        arrived.sender = sender;
        arrived.hasCredits = stage != Arrived.Stage.REQUESTED && stage != Arrived.Stage.FAILURE;
        return arrived;
    }

    private void arrivedEager(IncomingMessage message, Peer peer, long bytes) {
        long context = Header.context(header);
        int tag = Header.tag(header);
        int sender = Header.sender(header);
        Arrived arrived = null;
        MemorySegment block = header;
        ReceiveOperation receive;
        matching.lock.lock();
        try {
            receive = matching.takePosted(context, peer.rank, tag);
            if (receive == null || receive.capacity() < bytes) {
                arrived = newArrived(Arrived.Stage.ARRIVING, peer, tag, bytes, sender);
                arrived.claimedBy = receive; // too short for the body: it is copied when it has arrived
                KeptMemory.Block kept = matching.memory.take(bytes);
                arrived.block = kept;
                block = kept.segment;
                if (receive == null) {
                    matching.keep(arrived, context);
                }
            }
        } finally {
            matching.lock.unlock();
        }
        if (arrived != null) {
            if (receive == null) {
                probing.arrived();
            }
            take().into(arrived, block, message, bytes);
        } else if (receive != null) {
            receive.matched(peer.rank, tag, bytes);
            delivery.consumed(peer, bytes, sender);
            take().into(receive, message, 0, bytes, false);
        }
    }

    // ---- rendezvous

    private void requested(Peer peer, long bytes) {
        ReceiveOperation receive = takePostedOrKeep(Arrived.Stage.REQUESTED, peer, bytes);
        if (receive == null) {
            probing.arrived();
        } else {
            delivery.clear(peer, receive, Header.tag(header), bytes, Header.sender(header));
        }
    }

    /** The posted receive that a message without a body matches; if there is none, the message is kept. */
    private @Nullable ReceiveOperation takePostedOrKeep(Arrived.Stage stage, Peer peer, long bytes) {
        long context = Header.context(header);
        int tag = Header.tag(header);
        matching.lock.lock();
        try {
            ReceiveOperation receive = matching.takePosted(context, peer.rank, tag);
            if (receive == null) {
                matching.keep(newArrived(stage, peer, tag, bytes, Header.sender(header)), context);
            }
            return receive;
        } finally {
            matching.lock.unlock();
        }
    }

    private void fragment(IncomingMessage message, Peer peer, long bytes) {
        long offset = Header.context(header);
        int identity = Header.tag(header);
        if (operations.get(identity) instanceof ReceiveOperation receive) {
            take().into(receive, message, offset, bytes, true);
        } else {
            LOGGER.log(
                    System.Logger.Level.DEBUG,
                    "rank {0} dropped a fragment of rank {1} for a receive that has failed",
                    peers.own(),
                    peer.rank);
            message.discard();
        }
    }

    /** A fragment has come as bytes. */
    private void fragment(long bytes) {
        if (operations.get(Header.tag(header)) instanceof ReceiveOperation receive) {
            place(receive, true, Header.BYTES, Header.context(header), bytes);
        } // else its receive has failed
    }

    private void failed(Peer peer, int errorClass) {
        ReceiveOperation receive = takePostedOrKeep(Arrived.Stage.FAILURE, peer, errorClass);
        if (receive != null) {
            receive.failedAt(Header.sender(header), errorClass);
        }
    }

    private void cancel(Peer peer) {
        int sender = Header.sender(header);
        long context = Header.context(header);
        int tag = Header.tag(header);
        Arrived arrived;
        boolean answer = false;
        matching.lock.lock();
        try {
            arrived = matching.find(context, peer.rank, tag, sender);
            if (arrived != null && arrived.stage != Arrived.Stage.ARRIVING) {
                matching.remove(arrived);
                answer = true;
            }
        } finally {
            matching.lock.unlock();
        }
        if (arrived != null && answer) {
            delivery.giveUp(arrived);
        }
        peer.post(controls.take(Header.CANCEL_ANSWER, 0, 0, sender, answer ? 1 : 0));
    }

    // ---- pool

    private Intake take() {
        poolLock.lock();
        try {
            Intake first = free;
            if (first != null) {
                free = first.nextFree;
                first.nextFree = null;
                return first;
            }
        } finally {
            poolLock.unlock();
        }
        return new Intake(delivery, shortage, this::give);
    }

    private void give(Intake intake) {
        poolLock.lock();
        try {
            intake.nextFree = free;
            free = intake;
        } finally {
            poolLock.unlock();
        }
    }
}
