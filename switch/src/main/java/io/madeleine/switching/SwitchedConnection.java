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
 * A channel's connection to one peer: a sending and a receiving half over the links of a protocol's connection, and the
 * knowledge whether the peer is still there.
 *
 * <p>Threading: thread-safe; the halves have their own rules.
 */
final class SwitchedConnection implements ConnectionListener, Step {
    private static final FailureLog FAILURES = new FailureLog(System.getLogger("io.madeleine.switching"));

    /** How long who fails at a closed link waits for the reason at most. */
    private static final long MOMENT_NS = 10_000_000;

    private static final String GIVEN_UP = "this process has given the connection up: ";

    /** Made in time. */
    private static final Loss MEMORY_ENDED =
            new Loss(LossKind.CONNECTION, false, GIVEN_UP + "memory ended in the midst of a packet");

    private final SwitchedChannel channel;
    private final int rank;
    private final String network;
    private final ProtocolConnection protocol;
    private final SendHalf sending;
    private final ReceiveHalf receiving;
    private final AtomicBoolean queued = new AtomicBoolean();
    private final AtomicInteger claims = new AtomicInteger();
    private final AtomicBoolean losing = new AtomicBoolean();
    private volatile @Nullable Loss loss;

    /** The network says that no more comes than what has arrived. */
    private volatile boolean ended;

    /** This process wants nothing more of the peer, which may be alive. */
    private volatile boolean givenUp;

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

    /** What threads can wait on, as the channel's hint says; with what handlers are to do instead. */
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

    /** The message that has arrived stands in the channel's queue, once. */
    void messageArrived() {
        if (queued.compareAndSet(false, true)) {
            channel.arrivals().add(this);
        }
        channel.arrivals().signal();
    }

    /** Taken out of the channel's queue; before looking whether the message is still there. */
    void leftQueue() {
        queued.set(false);
    }

    /** A thread waits for a message of this connection: no handler is to take it. */
    void claimArrivals() {
        claims.incrementAndGet();
    }

    /** The thread waits no more; a message that it left unopened queues again. */
    void unclaimArrivals() {
        claims.decrementAndGet();
        if (receiving.hasArrived()) {
            messageArrived();
        }
    }

    boolean hasClaims() {
        return claims.get() > 0;
    }

    // ---- loss of the peer

    boolean isLost() {
        return loss != null;
    }

    /** Whether nothing more of the peer may be begun, though it has arrived: since before anyone was told. */
    boolean isGivenUp() {
        return givenUp;
    }

    /** Whether the connection is lost and no further message can be begun, even if one is still open. */
    boolean hasNothingMoreToBegin() {
        return loss != null && (givenUp || protocol.hasLostArrivals());
    }

    /** Why calls fail, of a connection that is lost or whose link is closed. */
    MadeleineException failure() {
        return channel.isClosing()
                ? new SessionException("the session is closed: rank " + rank + " on channel " + channel.name()
                        + " cannot be reached any more; end messages before Session.close")
                : peerFailure();
    }

    /** What became of the peer. */
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

    /** A link may be seen closed a moment before it is known why; null if that stays so. */
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

    /** The peer is given up, which may be alive: nothing of it is taken in any more, and it is told as far as possible. */
    void giveUp(boolean orderly, String reason) {
        lose(LossKind.PEER, orderly, reason, false);
    }

    private void lose(LossKind kind, boolean orderly, String reason, boolean byNetwork) {
        if (!losing.compareAndSet(false, true)) {
            return;
        }
        givenUp = !byNetwork; // which what the network says later does not change
        try {
            if (!orderly) {
                channel.tellOfLoss(
                        rank, kind, reason); // before a wait fails for it, after which the session may be closed
            }
        } finally {
            setLost(kind, orderly, reason);
        }
    }

    private void setLost(LossKind kind, boolean orderly, String reason) {
        loss = lossOf(kind, orderly, reason);
        // May be called from within a link: the halves are told from outside, by the leader.
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

    /** The session is closed, and nothing is driven any more: calls see that. */
    void closed() {
        sending.stop();
        if (losing.compareAndSet(false, true)) {
            loss = new Loss(LossKind.CONNECTION, true, "the session is closed");
        }
    }

    /**
     * Whether nobody knows what of a packet has moved, after that came out of a link in its midst. Of memory that was cut short the
     * network knows. Of memory that is short the packet does, unless that happened within a call that cannot be repeated.
     */
    boolean isBrokenBy(Throwable seen, boolean trackLost) {
        return seen instanceof OutOfMemoryError
                ? trackLost
                : !(seen instanceof InternalError || seen instanceof MadeleineException);
    }

    /** Nobody knows what of a packet has moved: the connection is given up. */
    void breakUpAfter(Throwable seen) {
        try {
            breakUp(reasonAfter(seen));
            FAILURES.error("the connection " + fromHere() + " is given up", seen);
        } catch (OutOfMemoryError _) {
            // it is lost all the same, and whoever uses it is told
        }
    }

    private String reasonAfter(Throwable seen) {
        try {
            String thread = Thread.currentThread().getName();
            String what = seen instanceof StackOverflowError
                    ? "the stack of thread " + thread + " ended"
                    : seen + " came out of network " + network + " in thread " + thread;
            return GIVEN_UP + what + " in the midst of a packet";
        } catch (OutOfMemoryError _) {
            return MEMORY_ENDED.reason;
        }
    }

    /** The connection cannot go on: the peer's bytes make no sense. */
    void breakUp(String reason) {
        lose(LossKind.CONNECTION, false, reason, false);
    }

    @Override
    public boolean step() {
        if (givenUp) {
            receiving.cutOff();
            if (!ended) {
                protocol.giveUp();
            }
        }
        receiving.connectionLost();
        sending.connectionLost();
        channel.arrivals().signalLoss();
        engine().lowerDemand();
        return true;
    }
}
