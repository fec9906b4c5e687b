package io.madeleine.switching;

import io.madeleine.api.Channel;
import io.madeleine.api.DeadlineExceededException;
import io.madeleine.api.IncomingMessage;
import io.madeleine.api.OutgoingMessage;
import io.madeleine.api.PeerFailedException;
import io.madeleine.api.Session;
import io.madeleine.pmm.ArrivalQueue;
import io.madeleine.pmm.Condition;
import io.madeleine.pmm.Deadlines;
import io.madeleine.pmm.ProgressEngine;
import io.madeleine.pmm.Waitable;
import io.madeleine.pmm.spi.ProtocolConnection;
import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.ObjIntConsumer;
import org.jspecify.annotations.Nullable;

/**
 * A channel as users hold it: the connections to all peers, and the queue of those with a message to be opened.
 *
 * <p>Threading: thread-safe once {@linkplain #attach connections are attached}, which the session does before it hands
 * the channel out.
 */
public final class SwitchedChannel implements Channel {
    private static final System.Logger LOGGER = System.getLogger("io.madeleine.switching");
    private static final int HANDLED_PER_ROUND = 16;

    /**
     * How often an expected sender is looked at before all networks are driven: a few microseconds. For less, two processes
     * that have once missed each other's looks would never again be in time.
     */
    private static final int LOOKS = 128;

    /** Every so many messages found by such a look, all networks are driven once, for the other senders' sake. */
    private static final int LOOKS_IN_A_ROW = 64;

    /** How many of the peers that are gone an error names. */
    private static final int LOSSES_TOLD = 3;

    private final Session session;
    private final String name;
    private final ProgressEngine engine;
    private final SwitchSettings settings;
    private final @Nullable SwitchedConnection[] byRank;
    private final ArrivalQueue<SwitchedConnection> arrivals;
    private final Waitable news;
    private final Condition hasNews;
    private final AtomicInteger waitingForAnyone = new AtomicInteger();
    private final AtomicInteger livePeers = new AtomicInteger();
    private volatile @Nullable MessageHandler handler;

    /** Whose message was opened last; the next one is expected from there (Nemesis, section 3.2). */
    private volatile @Nullable SwitchedConnection expected;

    private int foundByLook; // lost counts do no harm
    private volatile ObjIntConsumer<String> onLoss = (_, _) -> {};

    /** A channel of a session, without connections yet. */
    public SwitchedChannel(Session session, String name, ProgressEngine engine, SwitchSettings settings) {
        this.session = session;
        this.name = name;
        this.engine = engine;
        this.settings = settings;
        this.news = new Waitable(settings.hint());
        this.byRank = new SwitchedConnection[session.size()];
        this.arrivals = new ArrivalQueue<>(session.size());
        this.hasNews = () -> !arrivals.isEmpty() || isExhausted();
    }

    /** Adds the connection to a peer and starts it. */
    public void attach(int rank, String network, ProtocolConnection connection, SelectionTable table) {
        SwitchedConnection switched = new SwitchedConnection(this, rank, network, connection, table);
        byRank[rank] = switched;
        livePeers.incrementAndGet();
        connection.start(switched);
    }

    /** Who is told when a connection is lost without the peer's leave: the reason, and the rank. Control path. */
    public void onConnectionLost(ObjIntConsumer<String> listener) {
        onLoss = listener;
    }

    ProgressEngine engine() {
        return engine;
    }

    SwitchSettings settings() {
        return settings;
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public String network(int remote) {
        return connection(remote).network();
    }

    @Override
    public boolean isConnected(int remote) {
        return !connection(remote).isLost();
    }

    @Override
    public Session session() {
        return session;
    }

    private SwitchedConnection connection(int remote) {
        SwitchedConnection connection = remote >= 0 && remote < byRank.length ? byRank[remote] : null;
        if (connection == null) {
            throw new IllegalArgumentException("channel " + name + ": expected the rank of another process, 0 to "
                    + (byRank.length - 1) + " but not " + session.rank() + ", found " + remote);
        }
        return connection;
    }

    // ---- sending

    @Override
    public OutgoingMessage beginPacking(int remote) {
        return connection(remote).sending().begin(ProgressEngine.NO_DEADLINE);
    }

    @Override
    public OutgoingMessage beginPacking(int remote, long timeout, TimeUnit unit) {
        return connection(remote).sending().begin(Deadlines.after(timeout, unit));
    }

    @Override
    public Optional<OutgoingMessage> tryBeginPacking(int remote) {
        SendHalf sending = connection(remote).sending();
        OutgoingHandle begun = sending.tryBegin();
        if (begun == null && engine.progress() > 0) {
            begun = sending.tryBegin();
        }
        return begun == null ? Optional.empty() : begun.asOptional();
    }

    // ---- receiving

    @Override
    public IncomingMessage beginUnpacking() {
        return begin(ProgressEngine.NO_DEADLINE);
    }

    @Override
    public IncomingMessage beginUnpacking(long timeout, TimeUnit unit) {
        return begin(Deadlines.after(timeout, unit));
    }

    @Override
    public IncomingMessage beginUnpacking(int remote) {
        return begin(connection(remote), ProgressEngine.NO_DEADLINE);
    }

    @Override
    public IncomingMessage beginUnpacking(int remote, long timeout, TimeUnit unit) {
        return begin(connection(remote), Deadlines.after(timeout, unit));
    }

    @Override
    public Optional<IncomingMessage> tryBeginUnpacking() {
        IncomingHandle begun = takeArrived();
        if (begun == null && engine.progress() > 0) {
            begun = takeArrived();
        }
        return begun == null ? Optional.empty() : begun.asOptional();
    }

    @Override
    public Optional<IncomingMessage> tryBeginUnpacking(int remote) {
        ReceiveHalf receiving = connection(remote).receiving();
        IncomingHandle begun = receiving.tryBegin();
        if (begun == null && engine.progress() > 0) {
            begun = receiving.tryBegin();
        }
        return begun == null ? Optional.empty() : begun.asOptional();
    }

    private IncomingMessage begin(long deadlineNs) {
        IncomingHandle begun = takeArrived();
        if (begun == null) {
            begun = takeExpected();
        }
        if (begun != null) {
            return begun;
        }
        waitingForAnyone.incrementAndGet();
        try {
            while (true) {
                if (!engine.await(news, hasNews, deadlineNs)) {
                    throw new DeadlineExceededException("beginUnpacking on channel " + name + " of rank "
                            + session.rank() + ": no message came from any of the " + livePeers.get()
                            + " live peers in time");
                }
                begun = takeArrived();
                if (begun != null) {
                    return begun;
                }
                if (isExhausted() && arrivals.isEmpty()) {
                    throw new PeerFailedException(
                            -1,
                            "beginUnpacking on channel " + name + " of rank " + session.rank()
                                    + ": no live peer is left that could send, of " + (byRank.length - 1)
                                    + whyNobodyIsLeft());
                }
            }
        } finally {
            waitingForAnyone.decrementAndGet();
        }
    }

    /** Whether no peer is left, nor a message of one. */
    private boolean isExhausted() {
        if (livePeers.get() > 0) {
            return false;
        }
        for (SwitchedConnection connection : byRank) {
            if (connection != null && !connection.receiving().isExhausted()) {
                return false;
            }
        }
        return true;
    }

    private String whyNobodyIsLeft() {
        StringBuilder why = new StringBuilder();
        int told = 0;
        for (int rank = 0; rank < byRank.length && told < LOSSES_TOLD; rank++) {
            SwitchedConnection connection = byRank[rank];
            if (connection != null) {
                why.append("; ").append(connection.failure().getMessage());
                told++;
            }
        }
        return why.toString();
    }

    private IncomingMessage begin(SwitchedConnection connection, long deadlineNs) {
        ReceiveHalf receiving = connection.receiving();
        IncomingHandle begun = lookFor(receiving);
        if (begun != null) {
            return begun;
        }
        connection.claimArrivals();
        try {
            while (true) {
                if (!receiving.awaitArrival(deadlineNs)) {
                    throw new DeadlineExceededException("beginUnpacking on channel " + name + " of rank "
                            + session.rank() + ": no message came from rank " + connection.rank() + " in time");
                }
                begun = receiving.tryBegin();
                if (begun != null) {
                    return begun;
                }
                if (receiving.isExhausted()) {
                    throw connection.failure();
                }
            }
        } finally {
            connection.unclaimArrivals();
        }
    }

    private @Nullable IncomingHandle takeArrived() {
        for (SwitchedConnection first = arrivals.poll(); first != null; first = arrivals.poll()) {
            first.leftQueue();
            IncomingHandle begun = first.receiving().tryBegin();
            if (begun != null) {
                if (expected != first) {
                    expected = first;
                }
                return begun;
            }
        }
        return null;
    }

    private @Nullable IncomingHandle takeExpected() {
        SwitchedConnection sender = expected;
        if (sender == null) {
            return null;
        }
        if (++foundByLook % LOOKS_IN_A_ROW == 0) {
            engine.progress();
            IncomingHandle begun = takeArrived();
            if (begun != null) {
                return begun;
            }
        }
        return lookFor(sender.receiving());
    }

    /** Looks at one sender for a moment before all networks are driven. */
    private @Nullable IncomingHandle lookFor(ReceiveHalf receiving) {
        IncomingHandle begun = receiving.tryBegin();
        if (begun == null && receiving.isWorthLooking() && handler == null && engine.maySpin()) {
            for (int looks = LOOKS; begun == null && looks > 0; looks--) {
                Thread.onSpinWait();
                begun = receiving.tryBegin();
            }
        }
        return begun;
    }

    void arrived(SwitchedConnection connection) {
        arrivals.add(connection);
    }

    /** One of those who wait for a message is enough. */
    void signalArrival() {
        engine.signalOne(news);
    }

    /** Whether a thread sleeps until a message arrives from anyone. */
    boolean isAwaited() {
        return engine.isAwaited(news);
    }

    /** Nothing may be left to wait for. */
    void signalLoss() {
        engine.signal(news);
    }

    @Override
    public synchronized void onMessage(MessageHandler wanted) {
        boolean isFirst = handler == null;
        handler = wanted;
        if (isFirst) {
            engine.addDispatcher(this::dispatch, settings.hint());
        }
    }

    /** Hands arrived messages that nobody waits for to the handler, outside all polls; the leader calls. */
    private void dispatch() {
        MessageHandler current = handler;
        for (int i = 0; i < HANDLED_PER_ROUND && current != null && waitingForAnyone.get() == 0; i++) {
            SwitchedConnection first = arrivals.poll();
            if (first == null) {
                return;
            }
            first.leftQueue();
            IncomingHandle begun = first.hasClaims() ? null : first.receiving().tryBegin();
            if (begun != null) {
                handle(current, begun);
            }
        }
    }

    private static void handle(MessageHandler current, IncomingHandle begun) {
        try {
            current.onMessage(begun);
        } catch (RuntimeException | Error e) { // the thread that happens to call it is not to blame
            LOGGER.log(
                    Level.ERROR,
                    "the handler of channel " + begun.channel().name() + " failed on a message from rank "
                            + begun.remote() + "; the message is discarded",
                    e);
            begun.discard();
        }
    }

    // ---- peers that leave, and the end

    /** The session knows that a peer is gone. */
    public void peerLost(int rank, boolean orderly, String reason) {
        SwitchedConnection connection = rank >= 0 && rank < byRank.length ? byRank[rank] : null;
        if (connection != null) {
            connection.onLost(orderly, reason);
        }
    }

    void lost(SwitchedConnection connection, boolean orderly, String reason) {
        livePeers.decrementAndGet();
        signalLoss();
        if (!orderly) {
            onLoss.accept(reason, connection.rank());
        }
    }

    /** Whether all that {@code endPackingAsync} promised has been sent, or has failed. */
    public boolean isDrained() {
        for (SwitchedConnection connection : byRank) {
            if (connection != null && connection.sending().isOnItsWay() && !connection.isLost()) {
                return false;
            }
        }
        return true;
    }

    /** Whether nothing is left to come of messages that were discarded: their senders have been rid of them. */
    public boolean isRidOfDiscarded() {
        for (SwitchedConnection connection : byRank) {
            if (connection != null && connection.receiving().isDropping() && !connection.isLost()) {
                return false;
            }
        }
        return true;
    }

    /** Tells the peers that nothing more will come. */
    public void finish() {
        for (SwitchedConnection connection : byRank) {
            if (connection != null) {
                connection.protocol().finish();
            }
        }
    }

    /** Frees the connections; open messages fail. */
    public void close() {
        List<RuntimeException> failures = new ArrayList<>();
        for (SwitchedConnection connection : byRank) {
            if (connection != null) {
                try {
                    connection.receiving().close();
                } catch (RuntimeException e) {
                    failures.add(e);
                }
            }
        }
        if (!failures.isEmpty()) {
            RuntimeException first = failures.getFirst();
            failures.subList(1, failures.size()).forEach(first::addSuppressed);
            throw first;
        }
    }
}
