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
final class SwitchedConnection implements ReceiveContext, ConnectionListener, Step {
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

    /** The network has been told that the connection is given up, or need not be. */
    private volatile boolean hasGivenUp;

    private record Loss(LossKind kind, boolean orderly, String reason) {}

    SwitchedConnection(
            SwitchedChannel channel, int rank, String network, ProtocolConnection protocol, SelectionTable table) {
        this.channel = channel;
        this.rank = rank;
        this.network = network;
        this.protocol = protocol;
        this.sending = new SendHalf(this, protocol.links(), table, channel.stagingPool(), channel.taskRunner());
        this.receiving = new ReceiveHalf(this, protocol.links(), table);
    }

    @Override
    public SwitchedChannel channel() {
        return channel;
    }

    @Override
    public ProgressEngine engine() {
        return channel.engine();
    }

    @Override
    public Waitable newWaitable(String inHandlers) {
        return new Waitable(channel.settings().hint(), inHandlers);
    }

    @Override
    public boolean isClosing() {
        return channel.isClosing();
    }

    @Override
    public boolean isSelfDescribed() {
        return channel.settings().selfDescribed();
    }

    @Override
    public long peerTimeoutNs() {
        return channel.settings().peerTimeoutNs();
    }

    @Override
    public int rank() {
        return rank;
    }

    @Override
    public String network() {
        return network;
    }

    @Override
    public ProtocolConnection protocol() {
        return protocol;
    }

    SendHalf sending() {
        return sending;
    }

    ReceiveHalf receiving() {
        return receiving;
    }

    @Override
    public String fromHere() {
        return "from rank " + channel.session().rank() + " to rank " + rank + " on channel " + channel.name();
    }

    @Override
    public String toHere() {
        return "from rank " + rank + " to rank " + channel.session().rank() + " on channel " + channel.name();
    }

    @Override
    public int onReadable() {
        return receiving.onReadable();
    }

    @Override
    public void messageArrived() {
        if (queued.compareAndSet(false, true)) {
            channel.arrivals().add(this);
        }
        channel.arrivals().signal();
    }

    @Override
    public boolean isAnyMessageAwaited() {
        return channel.arrivals().isAwaited();
    }

    @Override
    public void signalLoss() {
        channel.arrivals().signalLoss();
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

    @Override
    public boolean isLost() {
        return loss != null;
    }

    @Override
    public boolean isGivenUp() {
        return givenUp;
    }

    /** Whether the peer of a connection that is given up has yet to be told. */
    boolean isBeingGivenUp() {
        return givenUp && !hasGivenUp;
    }

    /** Whether the connection is lost and no further message can be begun, even if one is still open. */
    @Override
    public boolean hasNothingMoreToBegin() {
        return loss != null && (givenUp || protocol.hasLostArrivals());
    }

    @Override
    public MadeleineException failure() {
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

    @Override
    public boolean isBrokenBy(Throwable seen, boolean stateUnknown) {
        return seen instanceof OutOfMemoryError
                ? stateUnknown
                : !(seen instanceof InternalError || seen instanceof MadeleineException);
    }

    @Override
    public void breakUpAfter(Throwable seen) {
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

    @Override
    public void breakUp(String reason) {
        lose(LossKind.CONNECTION, false, reason, false);
    }

    @Override
    public boolean takeMemoryBack(String reason) {
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
    public String toString() {
        return "the connection " + fromHere();
    }

    @Override
    public boolean step() {
        if (givenUp) {
            try {
                receiving.dropUnbegun();
                if (!ended) {
                    protocol.giveUp();
                }
            } finally {
                hasGivenUp = true;
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
