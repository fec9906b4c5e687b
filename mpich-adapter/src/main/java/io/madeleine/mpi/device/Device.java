package io.madeleine.mpi.device;

import io.madeleine.api.Channel;
import io.madeleine.api.MadeleineException;
import io.madeleine.api.PeerFailedException;
import io.madeleine.api.Session;
import io.madeleine.api.Signal;
import io.madeleine.mpi.ErrorClass;
import io.madeleine.mpi.MpiFault;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.function.IntPredicate;
import org.jspecify.annotations.Nullable;

/**
 * Point-to-point messages with matching between the processes of a session, over one of its channels. A message has a
 * context, a tag and a body. The device knows neither communicators nor datatypes: ranks are those of the session, a
 * context is a number that no other communicator has, a body is memory.
 *
 * <p>Short messages travel eagerly. A sender pays credits for them, which the receiver returns when it has matched
 * them;
 * without credits, and for long messages, the sender asks first. So a process keeps a bounded amount of bodies that
 * nobody has asked for, and any number of requests. Messages between two processes with the same context are matched in
 * the order in which they were started (MPI 4.1, section 3.5).
 *
 * <p>Nothing here waits but {@link #await}, {@link #awaitCondition} and {@link #sendNow}; all other methods may be
 * called
 * by handlers.
 *
 * <p>Threading: thread-safe.
 */
public final class Device {
    /** A receive takes messages of all ranks. */
    public static final int ANY_SOURCE = -1;

    /** A receive takes messages with any tag. */
    public static final int ANY_TAG = -1;

    private final Session session;
    private final Channel channel;
    private final DeviceSettings settings;
    private final Scratch scratch;
    private final Signal signal;
    private final Peer[] peers;
    private final Matching matching;
    private final OperationTable operations = new OperationTable();
    private final OperationPool<SendOperation> sends = new OperationPool<>();
    private final OperationPool<ReceiveOperation> receives = new OperationPool<>();
    private final Controls controls = new Controls(this);
    private final Arrivals arrivals;

    /** The number of peers that are lost. */
    private final AtomicInteger losses = new AtomicInteger();

    /** The number of threads that wait for a message to probe. */
    private final AtomicInteger probing = new AtomicInteger();

    /** A device over a channel, whose handler it becomes. The session is the caller's. */
    public Device(Session session, Channel channel, DeviceSettings settings, Scratch scratch) {
        this.session = session;
        this.channel = channel;
        this.settings = settings;
        this.scratch = scratch;
        this.signal = channel.newSignal();
        this.peers = new Peer[session.size()];
        for (int rank = 0; rank < peers.length; rank++) {
            peers[rank] = new Peer(channel, rank, settings.creditBytes(), rank == session.rank());
        }
        this.matching = new Matching(peers.length);
        this.arrivals = new Arrivals(this, matching);
    }

    /** Begins to receive. */
    public void open() {
        session.onPeerFailure(this::peerFailed);
        channel.onMessage(arrivals, arrivals.header(), arrivals);
    }

    /** The rank of this process in the session. */
    public int rank() {
        return session.rank();
    }

    /** The number of processes of the session. */
    public int size() {
        return peers.length;
    }

    /** Memory for what operations keep for a moment. */
    public Scratch scratch() {
        return scratch;
    }

    /** The session that carries the messages. */
    public Session session() {
        return session;
    }

    // ---- operations that are used again

    /** A send that may be given back. */
    public SendOperation takeSend() {
        SendOperation free = sends.take();
        return free == null ? new SendOperation(this) : free;
    }

    /** A receive that may be given back: of a fixed length, and not part of another operation. */
    public ReceiveOperation takeReceive() {
        ReceiveOperation free = receives.take();
        return free == null ? new ReceiveOperation(this) : free;
    }

    /** Gives an operation back that was taken here and is done; nobody uses the object any more. */
    public void give(Operation operation) {
        if (operation instanceof SendOperation send) {
            send.payload().clear();
            sends.give(send);
        } else if (operation instanceof ReceiveOperation receive) {
            receive.payload().clear();
            receives.give(receive);
        }
    }

    // ---- sending

    /** Starts a send. Never waits. */
    public void send(SendOperation send) {
        send.start();
        long bytes = send.payload().bytes();
        if (send.target() == rank()) {
            sendToSelf(send);
            return;
        }
        Peer peer = peers[send.target()];
        MpiFault lost = peer.failure();
        if (lost == null && losses.get() != 0) {
            lost = lossAmong(send::concerns);
        }
        if (lost != null) {
            send.failed(lost);
        } else if (bytes <= settings.eagerBytes() && peer.takeCredits(Peer.cost(bytes))) {
            send.sendEager(peer, send.mode() == SendMode.STANDARD ? 0 : operations.add(send));
        } else {
            send.requestToSend(peer, operations.add(send));
            lost = losses.get() == 0 ? null : lossAmong(send::concerns);
            if (lost != null) { // while it was started
                send.giveUp(lost);
            }
        }
    }

    /**
     * Sends an eager message and waits until its memory may be reused, without an operation.
     *
     * @return false if the message cannot be sent this way; nothing has happened then
     */
    public boolean sendNow(MemorySegment segment, long offset, long bytes, int target, long context, int tag) {
        if (bytes > settings.eagerBytes() || target == rank()) {
            return false;
        }
        try {
            return peers[target].sendNow(segment, offset, bytes, context, tag);
        } catch (MadeleineException e) { // the peer is lost, or the wait was interrupted: nothing was sent
            throw fault(e, target, "a send of " + bytes + " bytes");
        }
    }

    /**
     * As {@link #sendNow}, if the message can leave at once; never waits.
     *
     * @return false if it cannot; nothing has happened then
     */
    public boolean trySend(MemorySegment segment, long offset, long bytes, int target, long context, int tag) {
        return bytes <= Header.INLINE_BYTES
                && target != rank()
                && peers[target].trySendInline(segment, offset, bytes, context, tag);
    }

    private void sendToSelf(SendOperation send) {
        long bytes = send.payload().bytes();
        boolean isKept = false;
        ReceiveOperation receive;
        matching.lock.lock();
        try {
            receive = matching.takePosted(send.context(), rank(), send.tag());
            if (receive == null) {
                isKept = send.mode() == SendMode.STANDARD
                        && bytes <= settings.eagerBytes()
                        && peers[rank()].takeCredits(Peer.cost(bytes));
                matching.keep(ownMessage(send, isKept), send.context());
            }
        } finally {
            matching.lock.unlock();
        }
        if (receive == null) {
            unexpectedArrived();
        } else {
            long taken = receive.matched(rank(), send.tag(), bytes);
            RuntimeException failure = null;
            try {
                send.payload().copyTo(receive.payload(), taken);
            } catch (RuntimeException e) { // the memory of one of them was freed
                failure = e;
            }
            arrivals.bodyArrived(receive, false, taken, failure);
        }
        if (receive != null || isKept) {
            send.end();
        }
    }

    private Arrived ownMessage(SendOperation send, boolean isKept) {
        long bytes = send.payload().bytes();
        Arrived arrived = matching.newArrived();
        arrived.source = rank();
        arrived.tag = send.tag();
        arrived.bytes = bytes;
        arrived.sender = 0;
        arrived.hasCredits = isKept;
        if (!isKept) {
            arrived.stage = Arrived.Stage.OWN;
            arrived.own = send;
        } else if (bytes <= Header.INLINE_BYTES) {
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

    /**
     * Tells the receiver of a message that the message will not come, because its operation has failed. The send is not
     * started. Never waits.
     *
     * @param culprit the rank where the operation failed first
     * @param errorClass one of {@link ErrorClass}
     */
    public void sendFailure(SendOperation instead, int culprit, int errorClass) {
        Peer peer = peers[instead.target()];
        if (peer.failure() == null) {
            peer.post(controls.take(Header.FAILURE, instead.context(), instead.tag(), culprit, errorClass));
        }
    }

    /**
     * Tries to cancel a send that has not been matched. The send is then done as cancelled, or ends well if it was
     * matched after all. A send that has left eagerly cannot be cancelled.
     */
    public void cancel(SendOperation send) {
        if (send.isDone()) {
            return;
        }
        if (send.target() == rank()) {
            if (withdrawOwn(send)) {
                send.wasCancelled();
            }
        } else if (send.identity() != 0) {
            peers[send.target()].post(controls.take(Header.CANCEL, send.context(), send.tag(), send.identity(), 0));
        }
    }

    private boolean withdrawOwn(SendOperation send) {
        matching.lock.lock();
        try {
            Arrived arrived = matching.find(send.context(), rank(), send.tag());
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

    // ---- receiving

    /** Starts a receive. Never waits. */
    public void receive(ReceiveOperation receive) {
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
                lost = losses.get() == 0 ? null : lossAmong(receive::concerns);
                if (lost == null) {
                    matching.post(receive);
                }
            }
        } finally {
            matching.lock.unlock();
        }
        if (arrived != null) {
            deliver(arrived, receive);
        } else if (lost != null) {
            receive.failed(lost);
        }
    }

    private @Nullable MpiFault lossAmong(IntPredicate concerned) {
        for (Peer peer : peers) {
            if (peer.failure() != null && concerned.test(peer.rank)) {
                return peer.failure();
            }
        }
        return null;
    }

    /** Cancels a receive that nothing has matched; it is then done. Does nothing otherwise. */
    public void cancel(ReceiveOperation receive) {
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

    /** Receives a message that a matched probe has taken. Never waits. */
    public void receiveProbed(Arrived arrived, ReceiveOperation receive) {
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
        deliver(arrived, receive);
    }

    /** Moves the body of a message that has arrived to the receive that has matched it. */
    void deliver(Arrived arrived, ReceiveOperation receive) {
        Peer peer = peers[arrived.source];
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
        } catch (RuntimeException e) { // the receive's memory was freed
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
        arrivals.bodyArrived(receive, false, taken, failure);
    }

    /** Lets go of a message: returns its credits, and its memory. */
    void giveUp(Arrived arrived) {
        Peer peer = peers[arrived.source];
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

    /** An eager message was matched when it arrived. */
    void consumed(Peer peer, long bytes, int sender) {
        returnCredits(peer, Peer.cost(bytes));
        if (sender != 0) {
            acknowledge(peer, sender);
        }
    }

    private void returnCredits(Peer peer, int cost) {
        if (peer.rank == rank()) {
            peer.addCredits(cost);
        } else if (peer.owe(cost)) {
            peer.post(controls.take(Header.CREDIT, 0, 0, 0, 0));
        }
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
            receive.fragmentFailed(lossOf(peer)); // lost before the receive was in the table, perhaps
        }
    }

    private static MpiFault lossOf(Peer peer) {
        MpiFault why = peer.failure();
        return why == null ? new MpiFault(ErrorClass.PROC_ABORTED, "rank " + peer.rank + " is lost") : why;
    }

    // ---- probing

    /** The oldest message that has arrived and that no receive has matched; null if there is none. */
    public @Nullable Envelope peek(int source, long context, int tag) {
        matching.lock.lock();
        try {
            Arrived arrived = matching.find(context, source, tag);
            return arrived == null ? null : Envelope.of(arrived);
        } finally {
            matching.lock.unlock();
        }
    }

    /**
     * As {@link #peek}; no receive or other probe finds the message any more: {@link #receiveProbed} must follow.
     */
    public @Nullable Arrived take(int source, long context, int tag) {
        matching.lock.lock();
        try {
            Arrived arrived = matching.find(context, source, tag);
            if (arrived != null) {
                matching.remove(arrived);
            }
            return arrived;
        } finally {
            matching.lock.unlock();
        }
    }

    /**
     * As {@link #peek}, waiting until there is a message.
     *
     * @param members the processes that may send if {@code source} is {@link #ANY_SOURCE}
     * @throws MpiFault if there is none and one that may send is lost
     */
    public Envelope awaitPeek(int source, long context, int tag, IntPredicate members) {
        while (true) {
            Envelope envelope = peek(source, context, tag);
            if (envelope != null) {
                return envelope;
            }
            awaitArrival(source, context, tag, members);
        }
    }

    /** As {@link #take}, waiting as {@link #awaitPeek} does. */
    public Arrived awaitTake(int source, long context, int tag, IntPredicate members) {
        while (true) {
            Arrived arrived = take(source, context, tag);
            if (arrived != null) {
                return arrived;
            }
            awaitArrival(source, context, tag, members);
        }
    }

    private void awaitArrival(int source, long context, int tag, IntPredicate members) {
        probing.incrementAndGet();
        try {
            awaitCondition(() -> peek(source, context, tag) != null || lossAmong(source, members) != null, source);
        } finally {
            probing.decrementAndGet();
        }
        if (peek(source, context, tag) == null) {
            checkLost(source, members);
        }
    }

    /**
     * Throws if a process is lost of which a message may be expected.
     *
     * @param members the processes that may send if {@code source} is {@link #ANY_SOURCE}
     */
    public void checkLost(int source, IntPredicate members) {
        MpiFault lost = lossAmong(source, members);
        if (lost != null) {
            throw lost;
        }
    }

    private @Nullable MpiFault lossAmong(int source, IntPredicate members) {
        if (losses.get() == 0) {
            return null;
        }
        return source == ANY_SOURCE ? lossAmong(members) : peers[source].failure();
    }

    /** A message came that nobody has asked for. */
    void unexpectedArrived() {
        if (probing.get() != 0) {
            signal.signal();
        }
    }

    // ---- waiting

    /** Waits until the operation is done. */
    public void await(Operation operation) {
        if (!operation.isDone()) {
            awaitCondition(operation, operation.expected());
        }
    }

    /**
     * Waits until a condition holds that a message makes true, or that {@link #signal} announces.
     *
     * @param expected the rank whose message is expected, or -1
     */
    public void awaitCondition(BooleanSupplier condition, int expected) {
        while (!signal.await(condition, expected, 1, TimeUnit.HOURS)) {
            Thread.onSpinWait(); // there is no bound but the loss of a peer, which ends the operation
        }
    }

    /** As {@link #awaitCondition}, no longer than this time; returns whether the condition holds. */
    public boolean awaitCondition(BooleanSupplier condition, long timeout, TimeUnit unit) {
        return signal.await(condition, -1, timeout, unit);
    }

    /** Makes waiting threads look at their conditions. */
    public void signal() {
        signal.signal();
    }

    /** Makes progress once, without waiting. */
    public void progress() {
        int _ = session.progress();
    }

    /** A message is lost, since there is no memory for it: nobody could go on, so the job ends. */
    void cannotKeep(int source, long bytes, OutOfMemoryError full) {
        session.abort(
                ErrorClass.INTERN,
                "rank " + rank() + " has no memory for a message of " + bytes + " bytes from rank " + source
                        + " that it has not asked for (" + full.getMessage()
                        + "): expected receives earlier, more memory"
                        + " (-Xmx), or a smaller mpi.credit-bytes, which is now " + settings.creditBytes());
    }

    // ---- losses

    private void peerFailed(int rank, PeerFailedException cause) {
        lost(rank, new MpiFault(ErrorClass.PROC_ABORTED, "rank " + rank + " is lost: " + cause.getMessage(), cause));
    }

    /** A process has left since MPI could not end in order there. */
    void peerLeft(int rank, int errorClass) {
        lost(
                rank,
                new MpiFault(
                        ErrorClass.PROC_ABORTED,
                        "rank " + rank + " has left: MPI.Finalize failed there with error class " + errorClass
                                + "; see the error of that rank"));
    }

    /**
     * Tells all others that this process leaves although they may wait for it: MPI could not end in order. Never waits.
     */
    public void leave(int errorClass) {
        for (Peer peer : peers) {
            if (peer.rank != rank() && peer.failure() == null) {
                peer.post(controls.take(Header.LEAVING, 0, 0, 0, errorClass));
            }
        }
    }

    private void lost(int rank, MpiFault why) {
        Peer peer = peers[rank];
        losses.incrementAndGet();
        peer.fail(why);
        List<ReceiveOperation> concerned;
        matching.lock.lock();
        try {
            concerned = matching.takePostedOf(rank);
            matching.dropRequestsOf(rank);
        } finally {
            matching.lock.unlock();
        }
        for (ReceiveOperation receive : concerned) {
            receive.failed(why);
        }
        for (Operation operation : operations.takeAll(each -> isWith(each, rank))) {
            operation.fail(this, why);
        }
        for (Operation operation : operations.all(each -> each instanceof SendOperation send && send.concerns(rank))) {
            ((SendOperation) operation).giveUp(why);
        }
        signal.signal();
    }

    private static boolean isWith(Operation operation, int rank) {
        return operation instanceof SendOperation send
                ? send.target() == rank
                : operation instanceof ReceiveOperation receive && receive.source() == rank;
    }

    /** The error that a failure of the channel means for an operation. */
    MpiFault fault(RuntimeException failure, int rank, String what) {
        if (failure instanceof MpiFault fault) {
            return fault;
        }
        int errorClass = failure instanceof PeerFailedException ? ErrorClass.PROC_ABORTED : ErrorClass.OTHER;
        return new MpiFault(errorClass, what + " failed at rank " + rank() + ": " + failure.getMessage(), failure);
    }

    // ---- what the rooms of this module see

    DeviceSettings settings() {
        return settings;
    }

    Peer peer(int rank) {
        return peers[rank];
    }

    OperationTable operations() {
        return operations;
    }

    Controls controls() {
        return controls;
    }

    /** Whether messages to others have not left yet. */
    public boolean hasQueues() {
        for (Peer peer : peers) {
            if (peer.hasQueue()) {
                return true;
            }
        }
        return false;
    }

    /** How many messages have arrived that nobody has asked for. */
    public int arrivedCount() {
        matching.lock.lock();
        try {
            return matching.arrivedCount();
        } finally {
            matching.lock.unlock();
        }
    }

    /** The operations of this process that others have to end. */
    public List<Pending> pending() {
        List<Operation> all;
        matching.lock.lock();
        try {
            all = matching.allPosted();
        } finally {
            matching.lock.unlock();
        }
        all.addAll(operations.all(_ -> true));
        return all.stream().map(Operation::pending).toList();
    }

    /** The messages that nobody has asked for; at most so many. */
    public List<Pending> unexpected(int most) {
        matching.lock.lock();
        try {
            return matching.describeArrived(most);
        } finally {
            matching.lock.unlock();
        }
    }

    /** How many messages to a rank wait until they can leave. */
    public int queuedTo(int rank) {
        return peers[rank].queued();
    }
}
