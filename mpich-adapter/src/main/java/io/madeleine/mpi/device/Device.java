package io.madeleine.mpi.device;

import io.madeleine.api.Channel;
import io.madeleine.api.Session;
import io.madeleine.api.Signal;
import io.madeleine.mpi.ErrorClass;
import io.madeleine.mpi.MpiFault;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.IntPredicate;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;

/**
 * Point-to-point messages with matching between the processes of a session, over one of its channels. A message has a
 * context, a tag and a body. The device knows neither communicators nor datatypes: ranks are those of the session, a
 * context is a number that no other communicator has, a body is memory.
 *
 * <p>Short messages travel eagerly. A sender pays credits for them, which the receiver returns when it has matched
 * them; without credits, and for long messages, the sender asks first. So a process keeps a bounded amount of bodies
 * that nobody has asked for, and any number of requests. Messages between two processes with the same context are
 * matched in the order in which they were started (MPI 4.1, section 3.5).
 *
 * <p>Nothing here waits but {@link #await}, {@link #awaitCondition} and {@link #sendNow}; all other methods may be
 * called by handlers.
 *
 * <p>This class only joins the parts; no part knows it.
 *
 * <p>Threading: thread-safe.
 */
public final class Device {
    /** A receive takes messages of all ranks. */
    public static final int ANY_SOURCE = Wildcards.ANY_SOURCE;

    /** A receive takes messages with any tag. */
    public static final int ANY_TAG = Wildcards.ANY_TAG;

    private final Session session;
    private final Channel channel;
    private final DeviceSettings settings;
    private final Scratch scratch;
    private final Signal signal;
    private final Faults faults;
    private final MemoryShortage shortage;
    private final Controls controls = new Controls();
    private final OperationTable<Operation> operations = new OperationTable<>();
    private final OperationPool<SendOperation> sends = new OperationPool<>();
    private final OperationPool<ReceiveOperation> receives = new OperationPool<>();
    private final Peers peers;
    private final Matching matching;
    private final Waiting waiting;
    private final Probing probing;
    private final Cancellation cancellation;
    private final Sending sending;
    private final Receiving receiving;
    private final Losses losses;
    private final Arrivals arrivals;
    private final Inspection inspection;

    /** A device over a channel, whose handler it becomes. The session is the caller's. */
    public Device(Session session, Channel channel, DeviceSettings settings, Scratch scratch) {
        this.session = session;
        this.channel = channel;
        this.settings = settings;
        this.scratch = scratch;
        this.signal = channel.newSignal();
        this.faults = new Faults(session);
        this.peers = new Peers(channel, session.rank(), session.size(), settings.creditBytes());
        this.matching = new Matching(session.size());
        this.shortage = new MemoryShortage(session, matching, settings.creditBytes());
        this.waiting = new Waiting(signal, shortage);
        this.probing = new Probing(peers, matching, waiting);
        this.cancellation = new Cancellation(peers, matching, controls);
        Delivery delivery = new Delivery(peers, matching, operations, controls, faults);
        SelfSending selfSending =
                new SelfSending(peers.get(peers.own()), matching, delivery, probing, settings.eagerBytes());
        this.sending =
                new Sending(peers, operations, controls, cancellation, selfSending, faults, settings.eagerBytes());
        this.receiving = new Receiving(peers, matching, delivery);
        this.losses = new Losses(peers, matching, operations, controls, cancellation, waiting);
        this.arrivals = new Arrivals(peers, matching, operations, controls, delivery, probing, losses, shortage);
        this.inspection = new Inspection(matching, operations);
    }

    /** Begins to receive. */
    public void open() {
        session.onPeerFailure(losses::peerFailed);
        channel.onMessage(arrivals, arrivals.header(), arrivals);
    }

    /** The rank of this process in the session. */
    public int rank() {
        return peers.own();
    }

    /** The number of processes of the session. */
    public int size() {
        return peers.count();
    }

    /** Memory for what operations keep for a moment. */
    public Scratch scratch() {
        return scratch;
    }

    /** The session that carries the messages. */
    public Session session() {
        return session;
    }

    /** What wakes the threads that wait for operations. */
    public Signal waiting() {
        return signal;
    }

    // ---- operations

    /** A send that nobody gives back. */
    public SendOperation newSend() {
        return new SendOperation(signal, operations, controls, faults, settings.fragmentBytes());
    }

    /** A receive that nobody gives back. */
    public ReceiveOperation newReceive() {
        return new ReceiveOperation(signal, operations, peers.own());
    }

    /** A send that may be given back. */
    public SendOperation takeSend() {
        SendOperation free = sends.take();
        return free == null ? newSend() : free;
    }

    /** A receive that may be given back: of a fixed length, and not part of another operation. */
    public ReceiveOperation takeReceive() {
        ReceiveOperation free = receives.take();
        return free == null ? newReceive() : free;
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
        sending.send(send);
    }

    /**
     * Sends an eager message and waits until its memory may be reused, without an operation.
     *
     * @return false if the message cannot be sent this way; nothing has happened then
     */
    public boolean sendNow(MemorySegment segment, long offset, long bytes, int target, long context, int tag) {
        return sending.sendNow(segment, offset, bytes, target, context, tag);
    }

    /**
     * As {@link #sendNow}, if the message can leave at once; never waits.
     *
     * @return false if it cannot; nothing has happened then
     */
    public boolean trySend(MemorySegment segment, long offset, long bytes, int target, long context, int tag) {
        return sending.trySend(segment, offset, bytes, target, context, tag);
    }

    /**
     * Tells the receiver of a message that the message will not come, because its operation has failed. The send is not
     * started. Never waits.
     *
     * @param culprit the rank where the operation failed first
     * @param errorClass one of {@link ErrorClass}
     */
    public void sendFailure(SendOperation instead, int culprit, int errorClass) {
        sending.sendFailure(instead, culprit, errorClass);
    }

    /**
     * Tries to cancel a send that has not been matched. The send is then done as cancelled, or ends well if it was
     * matched after all. A send that has left eagerly cannot be cancelled.
     */
    public void cancel(SendOperation send) {
        cancellation.cancel(send);
    }

    // ---- receiving

    /** Starts a receive. Never waits. */
    public void receive(ReceiveOperation receive) {
        receiving.receive(receive);
    }

    /** Cancels a receive that nothing has matched; it is then done. Does nothing otherwise. */
    public void cancel(ReceiveOperation receive) {
        cancellation.cancel(receive);
    }

    /** Receives a message that a matched probe has taken. Never waits. */
    public void receiveProbed(Arrived arrived, ReceiveOperation receive) {
        receiving.receiveProbed(arrived, receive);
    }

    // ---- probing

    /** The oldest message that has arrived and that no receive has matched; null if there is none. */
    public @Nullable Envelope peek(int source, long context, int tag) {
        return probing.peek(source, context, tag);
    }

    /**
     * As {@link #peek}; no receive or other probe finds the message any more: {@link #receiveProbed} must follow.
     */
    public @Nullable Arrived take(int source, long context, int tag) {
        return probing.take(source, context, tag);
    }

    /**
     * As {@link #peek}, waiting until there is a message.
     *
     * @param members the processes that may send if {@code source} is {@link #ANY_SOURCE}
     * @throws MpiFault if there is none and one that may send is lost
     */
    public Envelope awaitPeek(int source, long context, int tag, IntPredicate members) {
        return probing.awaitPeek(source, context, tag, members);
    }

    /** As {@link #take}, waiting as {@link #awaitPeek} does. */
    public Arrived awaitTake(int source, long context, int tag, IntPredicate members) {
        return probing.awaitTake(source, context, tag, members);
    }

    /**
     * Throws if a process from which a message may be expected is lost.
     *
     * @param members the processes that may send if {@code source} is {@link #ANY_SOURCE}
     */
    public void checkLost(int source, IntPredicate members) {
        probing.checkLost(source, members);
    }

    // ---- waiting

    /** Waits until the operation is done. */
    public void await(Operation operation) {
        waiting.await(operation);
    }

    /**
     * Waits until a condition holds that a message makes true, or that {@link #signal} announces.
     *
     * @param expected the rank whose message is expected, or -1
     */
    public void awaitCondition(BooleanSupplier condition, int expected) {
        waiting.awaitCondition(condition, expected);
    }

    /** As {@link #awaitCondition}, no longer than this time; returns whether the condition holds. */
    public boolean awaitCondition(BooleanSupplier condition, long timeout, TimeUnit unit) {
        return waiting.awaitCondition(condition, timeout, unit);
    }

    /** Makes waiting threads look at their conditions. */
    public void signal() {
        waiting.signal();
    }

    /** Makes progress once, without waiting. */
    public void progress() {
        try {
            int _ = session.progress();
        } catch (OutOfMemoryError e) {
            shortage.hinders(e);
            throw e;
        }
    }

    /**
     * Tells all others that this process leaves although they may wait for it: MPI could not end in order. Never waits.
     */
    public void leave(int errorClass) {
        losses.leave(errorClass);
    }

    // ---- for reports

    /** Whether messages to others have not left yet. */
    public boolean hasQueues() {
        return peers.hasQueues();
    }

    /** How many messages of these contexts have arrived that nobody has asked for. */
    public int arrivedCount(LongPredicate contexts) {
        return inspection.arrivedCount(contexts);
    }

    /** The operations of this process that others have to end. */
    public List<Pending> pending() {
        return inspection.pending();
    }

    /** The messages of these contexts that nobody has asked for; at most this many. */
    public List<Pending> unexpected(int most, LongPredicate contexts) {
        return inspection.unexpected(most, contexts);
    }

    /** How many messages to a rank wait until they can leave. */
    public int queuedTo(int rank) {
        return peers.get(rank).queued();
    }
}
