package io.madeleine.switching;

import io.madeleine.api.LossKind;
import io.madeleine.api.MadeleineException;
import io.madeleine.api.PeerFailedException;
import io.madeleine.api.SessionException;
import io.madeleine.pmm.FailureLog;
import io.madeleine.pmm.ProgressEngine;
import io.madeleine.pmm.Step;
import io.madeleine.pmm.Waitable;
import io.madeleine.pmm.spi.ConnectionListener;
import io.madeleine.pmm.spi.ProtocolConnection;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * A channel's connection to one peer: a sending and a receiving half over the links of a protocol connection, and the
 * state of the peer.
 *
 * <p>Threading: thread-safe; the halves have their own rules.
 */
final class SwitchedConnection implements ConnectionListener, Step {
    private static final FailureLog FAILURES = new FailureLog(System.getLogger("io.madeleine.switching"));

    /** How long a call that fails at a closed link waits for the reason at most. */
    private static final long MOMENT_NS = 10_000_000;

    private static final String GIVEN_UP = "this process has given the connection up: ";

    /** Allocated in advance, for use when no memory is left. */
    private static final Loss MEMORY_ENDED =
            new Loss(LossKind.CONNECTION, false, GIVEN_UP + "memory ran out in the middle of a packet");

    private final SwitchedChannel channel;
    private final int rank;
    private final String network;
    private final ProtocolConnection protocol;
    private final SendHalf sending;
    private final ReceiveHalf receiving;
    private final AtomicBoolean queued = new AtomicBoolean();
    private final AtomicInteger waiters = new AtomicInteger();
    private final AtomicBoolean losing = new AtomicBoolean();
    private volatile @Nullable Loss loss;

    /** The network has reported that no data will arrive any more. */
    private volatile boolean ended;

    /** This process has given the connection up, although the peer may be alive. */
    private volatile boolean givenUp;

    /** The leader has told the halves and the network of the loss. */
    private volatile boolean toldOfLoss;

    /** The connection was closed before its channel. */
    private volatile boolean freed;

    private record Loss(LossKind kind, boolean orderly, String reason) {}

    SwitchedConnection(
            SwitchedChannel channel, int rank, String network, ProtocolConnection protocol, SelectionTable table) {
        this.channel = channel;
        this.rank = rank;
        this.network = network;
        this.protocol = protocol;
        this.sending =
                new SendHalf(this, protocol.links(), table, channel.settings().selfDescribed());
        this.receiving = new ReceiveHalf(
                this, protocol.links(), table, channel.settings().selfDescribed());
    }

    SwitchedChannel channel() {
        return channel;
    }

    ProgressEngine engine() {
        return channel.engine();
    }

    /**
     * Makes a waitable with the channel's hint.
     *
     * @param inHandlers the advice for handlers, which must not wait on it
     */
    Waitable newWaitable(String inHandlers) {
        return new Waitable(channel.settings().hint(), inHandlers);
    }

    long peerTimeoutNs() {
        return channel.settings().peerTimeoutNs();
    }

    int rank() {
        return rank;
    }

    String network() {
        return network;
    }

    ProtocolConnection protocol() {
        return protocol;
    }

    SendHalf sending() {
        return sending;
    }

    ReceiveHalf receiving() {
        return receiving;
    }

    /** For error messages. */
    String fromHere() {
        return "from rank " + channel.session().rank() + " to rank " + rank + " on channel " + channel.name();
    }

    /** For error messages. */
    String toHere() {
        return "from rank " + rank + " to rank " + channel.session().rank() + " on channel " + channel.name();
    }

    @Override
    public int onReadable() {
        return receiving.onReadable();
    }

    /** Puts the connection into the channel's queue, once, since a message has arrived. */
    void messageArrived() {
        if (queued.compareAndSet(false, true)) {
            channel.arrivals().add(this);
        }
        channel.arrivals().signal();
    }

    /** Called after the connection was taken out of the channel's queue, and before the caller checks for a message. */
    void leftQueue() {
        queued.set(false);
    }

    /** A thread begins to wait for a message of this connection: no handler may take it. */
    void addWaiter() {
        waiters.incrementAndGet();
    }

    /** The thread stops waiting; a message that it has not begun is queued again. */
    void removeWaiter() {
        waiters.decrementAndGet();
        if (receiving.hasArrived()) {
            messageArrived();
        }
    }

    boolean hasWaiters() {
        return waiters.get() > 0;
    }

    // ---- loss of the peer

    boolean isLost() {
        return loss != null;
    }

    /**
     * Whether no message of the peer may be begun any more, even if it has arrived. Set before anyone is told of the
     * loss.
     */
    boolean isGivenUp() {
        return givenUp;
    }

    /** Whether the connection is lost and no further message can be begun, even if one is still open. */
    boolean hasNothingMoreToBegin() {
        return loss != null && (givenUp || protocol.hasLostArrivals());
    }

    /** The failure for calls on a connection that is lost or whose link is closed. */
    MadeleineException failure() {
        return channel.isClosing()
                ? new SessionException("the session is closed: rank " + rank + " on channel " + channel.name()
                        + " cannot be reached any more; end all messages before Session.close")
                : peerFailure();
    }

    /** The failure that says what happened to the peer. */
    PeerFailedException peerFailure() {
        Loss known = lossSoon();
        String what = known == null
                ? whatIsSeen() + channel.lossContext()
                : known.orderly
                        ? "it has left the session (" + known.reason + ")"
                        : known.reason + channel.lossContext();
        return new PeerFailedException(
                rank,
                known == null ? LossKind.CONNECTION : known.kind,
                "rank " + rank + " is gone from channel " + channel.name() + ": " + what);
    }

    private String whatIsSeen() {
        String seen = protocol.seenOfLoss();
        return seen.isEmpty() ? "its link is closed" : seen;
    }

    /** Waits a moment for the loss: a link may appear closed before the reason is known. Null if it stays unknown. */
    private @Nullable Loss lossSoon() {
        Loss known = loss;
        for (long startNs = System.nanoTime(); known == null && System.nanoTime() - startNs < MOMENT_NS; ) {
            Thread.yield();
            known = loss;
        }
        return known;
    }

    @Override
    public void onLost(LossKind kind, boolean orderly, String reason) {
        ended = true;
        lose(kind, orderly, reason, true);
    }

    /** Gives the peer up, although it may be alive: nothing of it is received any more, and it is told if possible. */
    void giveUp(boolean orderly, String reason) {
        lose(LossKind.PEER, orderly, reason, false);
    }

    private void lose(LossKind kind, boolean orderly, String reason, boolean byNetwork) {
        if (!losing.compareAndSet(false, true)) {
            return;
        }
        givenUp = !byNetwork; // later reports of the network do not change this
        try {
            if (!orderly) {
                channel.tellOfLoss(rank, kind, reason); // before a wait fails, after which the session may be closed
            }
        } finally {
            setLost(kind, orderly, reason);
        }
    }

    private void setLost(LossKind kind, boolean orderly, String reason) {
        loss = lossOf(kind, orderly, reason);
        // A link may be the caller: so the leader tells the halves later, in step().
        engine().raiseDemand();
        engine().enqueue(this);
        channel.lost();
        sending.connectionLost();
    }

    private static Loss lossOf(LossKind kind, boolean orderly, String reason) {
        try {
            return new Loss(kind, orderly, reason);
        } catch (OutOfMemoryError _) {
            return MEMORY_ENDED;
        }
    }

    /** The session is closed and nothing drives this connection any more: calls fail from now on. */
    void closed() {
        sending.stop();
        if (losing.compareAndSet(false, true)) {
            loss = new Loss(LossKind.CONNECTION, true, "the session is closed");
        }
    }

    /**
     * Whether the throwable, from a link in the middle of a packet, leaves the state of the packet unknown. If shared
     * memory was truncated ({@link InternalError}), the network knows the state. If memory ran out, the link knows it,
     * unless that happened in a call that cannot be repeated ({@code stateUnknown}).
     */
    boolean isBrokenBy(Throwable seen, boolean stateUnknown) {
        return seen instanceof OutOfMemoryError
                ? stateUnknown
                : !(seen instanceof InternalError || seen instanceof MadeleineException);
    }

    /** Gives the connection up, since the state of a packet is unknown. */
    void breakUpAfter(Throwable seen) {
        try {
            breakUp(reasonAfter(seen));
            FAILURES.error("this process gives up the connection " + fromHere(), seen);
        } catch (OutOfMemoryError _) {
            // the connection is lost all the same, and its users are told
        }
    }

    private String reasonAfter(Throwable seen) {
        try {
            String thread = Thread.currentThread().getName();
            String what = seen instanceof StackOverflowError
                    ? "the stack of thread " + thread + " overflowed"
                    : seen + " was thrown by network " + network + " in thread " + thread;
            return GIVEN_UP + what + " in the middle of a packet";
        } catch (OutOfMemoryError _) {
            return MEMORY_ENDED.reason;
        }
    }

    /** Gives the connection up, since it cannot continue; {@code reason} is a clause for error messages. */
    void breakUp(String reason) {
        lose(LossKind.CONNECTION, false, reason, false);
    }

    /**
     * Takes back posted memory that the network has not released in time: gives the connection up and closes it. After
     * that no network accesses memory of its messages. The leader calls this until it returns true.
     *
     * @param reason a clause for error messages, if the connection is not lost yet
     * @return whether the connection is closed; it is not before the network has been told of the loss
     */
    boolean takeMemoryBack(String reason) {
        breakUp(reason);
        if (!toldOfLoss) {
            return false;
        }
        freed = true;
        sending.stop();
        receiving.close();
        return true;
    }

    /** Tells the peer that nothing more will come. */
    void finish() {
        if (!freed) {
            protocol.finish();
        }
    }

    @Override
    public boolean step() {
        if (givenUp) {
            receiving.dropUnbegun();
            if (!ended) {
                protocol.giveUp();
            }
        }
        receiving.connectionLost();
        sending.connectionLost();
        channel.arrivals().signalLoss();
        toldOfLoss = true;
        engine().lowerDemand();
        return true;
    }
}
