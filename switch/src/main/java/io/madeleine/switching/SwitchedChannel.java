package io.madeleine.switching;

import io.madeleine.api.Channel;
import io.madeleine.api.IncomingMessage;
import io.madeleine.api.LossKind;
import io.madeleine.api.OutgoingMessage;
import io.madeleine.api.ReceiveMode;
import io.madeleine.api.SendMode;
import io.madeleine.api.SendTask;
import io.madeleine.api.Session;
import io.madeleine.api.Signal;
import io.madeleine.bmm.StagingPool;
import io.madeleine.pmm.Attempts;
import io.madeleine.pmm.Deadlines;
import io.madeleine.pmm.ProgressEngine;
import io.madeleine.pmm.StackRoom;
import io.madeleine.pmm.spi.ProtocolConnection;
import io.madeleine.pmm.spi.Region;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The channel that users hold: the connections to all peers, and the queue of connections with a message to begin.
 *
 * <p>Threading: thread-safe once all {@linkplain #attach connections are attached}; the session does that before it
 * hands the channel out.
 */
public final class SwitchedChannel implements Channel {
    /** How many lost peers an error message names at most. */
    private static final int LOSSES_TOLD = 3;

    private final Session session;
    private final String name;
    private final ProgressEngine engine;
    private final SwitchSettings settings;
    private final @Nullable SwitchedConnection[] byRank;
    private final StagingPool stagingPool = new StagingPool();
    private final Arrivals arrivals;
    private final WholeMessages wholeMessages;
    private final TaskRunner taskRunner;
    private final AtomicInteger livePeers = new AtomicInteger();
    private volatile LossListener onLoss = (_, _, _) -> {};
    private volatile Supplier<String> lossContext = () -> "";
    private volatile boolean closing;

    /** Creates a channel of a session, without connections. */
    public SwitchedChannel(Session session, String name, ProgressEngine engine, SwitchSettings settings) {
        this.session = session;
        this.name = name;
        this.engine = engine;
        this.settings = settings;
        this.byRank = new SwitchedConnection[session.size()];
        this.arrivals = new Arrivals(this);
        this.wholeMessages = new WholeMessages(this);
        this.taskRunner = new TaskRunner(name, engine, session.size());
    }

    /** Adds the connection to a peer and starts it. */
    public void attach(int rank, String network, ProtocolConnection connection, SelectionTable table) {
        SwitchedConnection switched = new SwitchedConnection(this, rank, network, connection, table);
        byRank[rank] = switched;
        livePeers.incrementAndGet();
        connection.start(switched);
    }

    /** A listener for connections that are lost without the peer having left. */
    @FunctionalInterface
    public interface LossListener {
        /** Reports the loss of the connection to a rank; {@code reason} is a clause for error messages. */
        void onLost(int rank, LossKind kind, String reason);
    }

    /**
     * Sets the listener for connections that are lost without the peer having left. It is called before any wait fails.
     */
    public void onConnectionLost(LossListener listener) {
        onLoss = listener;
    }

    /**
     * Sets the source of further information on losses: it returns an empty text, or a clause that begins with a
     * semicolon.
     */
    public void explainLossesBy(Supplier<String> context) {
        lossContext = context;
    }

    String lossContext() {
        return lossContext.get();
    }

    /** The pool for the messages' copies of blocks, shared by all connections. */
    StagingPool stagingPool() {
        return stagingPool;
    }

    ProgressEngine engine() {
        return engine;
    }

    /** The messages that have arrived and have not begun. */
    Arrivals arrivals() {
        return arrivals;
    }

    TaskRunner taskRunner() {
        return taskRunner;
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
        return !connection(remote).sending().isLost();
    }

    @Override
    public Session session() {
        return session;
    }

    private SwitchedConnection connection(int remote) {
        SwitchedConnection connection = connectionOrNull(remote);
        if (connection == null) {
            throw new IllegalArgumentException("channel " + name + ": expected the rank of another process, 0 to "
                    + (byRank.length - 1) + " but not " + session.rank() + ", found " + remote);
        }
        return connection;
    }

    /** The connection to another process; null for any other number. */
    @Nullable
    SwitchedConnection connectionOrNull(int remote) {
        return remote >= 0 && remote < byRank.length ? byRank[remote] : null;
    }

    // ---- sending

    @Override
    public OutgoingMessage beginPacking(int remote) {
        StackRoom.ensure();
        return connection(remote).sending().begin(ProgressEngine.NO_DEADLINE);
    }

    @Override
    public OutgoingMessage beginPacking(int remote, long timeout, TimeUnit unit) {
        StackRoom.ensure();
        return connection(remote).sending().begin(Deadlines.after(timeout, unit));
    }

    @Override
    public OutgoingMessage beginPackingUntil(int remote, long deadlineNs) {
        StackRoom.ensure();
        OutgoingHandle begun = connection(remote).sending().begin(deadlineNs);
        begun.setDeadlineNs(deadlineNs);
        return begun;
    }

    @Override
    public Optional<OutgoingMessage> tryBeginPacking(int remote) {
        StackRoom.ensure();
        SendHalf sending = connection(remote).sending();
        OutgoingHandle begun = sending.tryBegin();
        if (begun == null && engine.progress() > 0) {
            begun = sending.tryBegin();
        }
        if (begun == null) {
            sending.throwIfLost();
        }
        return begun == null ? Optional.empty() : begun.asOptional();
    }

    @Override
    public void send(
            int remote, MemorySegment block, long offset, long bytes, SendMode sendMode, ReceiveMode receiveMode) {
        wholeMessages.send(connection(remote).sending(), block, offset, bytes, sendMode, receiveMode, 0, null);
    }

    @Override
    public void send(
            int remote,
            MemorySegment block,
            long offset,
            long bytes,
            SendMode sendMode,
            ReceiveMode receiveMode,
            long timeout,
            TimeUnit unit) {
        Objects.requireNonNull(unit, "unit");
        wholeMessages.send(connection(remote).sending(), block, offset, bytes, sendMode, receiveMode, timeout, unit);
    }

    @Override
    public boolean trySend(
            int remote, MemorySegment block, long offset, long bytes, SendMode sendMode, ReceiveMode receiveMode) {
        return wholeMessages.trySend(connection(remote).sending(), block, offset, bytes, sendMode, receiveMode);
    }

    @Override
    public boolean trySend(
            int remote,
            MemorySegment blocks,
            long offset,
            long headerBytes,
            long bodyBytes,
            SendMode sendMode,
            ReceiveMode receiveMode) {
        return wholeMessages.trySend(
                connection(remote).sending(), blocks, offset, headerBytes, bodyBytes, sendMode, receiveMode);
    }

    @Override
    public SendTask newSendTask(int remote, Runnable action) {
        Objects.requireNonNull(action, "action");
        return connection(remote).sending().tasks().newTask(action);
    }

    // ---- receiving

    @Override
    public IncomingMessage beginUnpacking() {
        return take(ProgressEngine.NO_DEADLINE);
    }

    @Override
    public IncomingMessage beginUnpacking(long timeout, TimeUnit unit) {
        return take(Deadlines.after(timeout, unit));
    }

    @Override
    public IncomingMessage beginUnpacking(int remote) {
        return takeFrom(connection(remote), ProgressEngine.NO_DEADLINE);
    }

    @Override
    public IncomingMessage beginUnpacking(int remote, long timeout, TimeUnit unit) {
        return takeFrom(connection(remote), Deadlines.after(timeout, unit));
    }

    @Override
    public int receive(MemorySegment block, long offset, long bytes, SendMode sendMode, ReceiveMode receiveMode) {
        return wholeMessages.receive(null, block, offset, bytes, sendMode, receiveMode, 0, null);
    }

    @Override
    public int receive(
            MemorySegment block,
            long offset,
            long bytes,
            SendMode sendMode,
            ReceiveMode receiveMode,
            long timeout,
            TimeUnit unit) {
        Objects.requireNonNull(unit, "unit");
        return wholeMessages.receive(null, block, offset, bytes, sendMode, receiveMode, timeout, unit);
    }

    @Override
    public void receive(
            int remote, MemorySegment block, long offset, long bytes, SendMode sendMode, ReceiveMode receiveMode) {
        wholeMessages.receive(connection(remote), block, offset, bytes, sendMode, receiveMode, 0, null);
    }

    @Override
    public void receive(
            int remote,
            MemorySegment block,
            long offset,
            long bytes,
            SendMode sendMode,
            ReceiveMode receiveMode,
            long timeout,
            TimeUnit unit) {
        Objects.requireNonNull(unit, "unit");
        wholeMessages.receive(connection(remote), block, offset, bytes, sendMode, receiveMode, timeout, unit);
    }

    /**
     * Retries once after an {@link InternalError} from truncated shared memory: that means a lost connection, which the
     * second attempt reports.
     */
    private IncomingMessage take(long deadlineNs) {
        StackRoom.ensure();
        try {
            return arrivals.take(deadlineNs);
        } catch (InternalError e) {
            if (!engine.recover(e)) {
                throw e;
            }
            return arrivals.take(deadlineNs);
        }
    }

    private IncomingMessage takeFrom(SwitchedConnection from, long deadlineNs) {
        StackRoom.ensure();
        try {
            return arrivals.takeFrom(from, deadlineNs);
        } catch (InternalError e) {
            if (!engine.recover(e)) {
                throw e;
            }
            return arrivals.takeFrom(from, deadlineNs);
        }
    }

    @Override
    public Optional<IncomingMessage> tryBeginUnpacking() {
        StackRoom.ensure();
        IncomingHandle begun = arrivals.tryTake();
        if (begun == null && engine.progress() > 0) {
            begun = arrivals.tryTake();
        }
        if (begun == null) {
            arrivals.throwIfExhausted();
        }
        return begun == null ? Optional.empty() : begun.asOptional();
    }

    @Override
    public Optional<IncomingMessage> tryBeginUnpacking(int remote) {
        StackRoom.ensure();
        ReceiveHalf receiving = connection(remote).receiving();
        IncomingHandle begun = receiving.tryBegin();
        if (begun == null && engine.progress() > 0) {
            begun = receiving.tryBegin();
        }
        if (begun == null) {
            receiving.throwIfExhausted();
        }
        return begun == null ? Optional.empty() : begun.asOptional();
    }

    /** Whether no peer is left, and no message of one. */
    boolean isExhausted() {
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

    /** What happened to the peers, for error messages. */
    String whyNobodyIsLeft() {
        StringBuilder why = new StringBuilder();
        int told = 0;
        for (int rank = 0; rank < byRank.length && told < LOSSES_TOLD; rank++) {
            SwitchedConnection connection = byRank[rank];
            if (connection != null) {
                why.append("; ").append(connection.peerFailure().getMessage());
                told++;
            }
        }
        return why.toString();
    }

    @Override
    public void onMessage(MessageHandler handler) {
        Objects.requireNonNull(handler, "handler");
        arrivals.handlers().onMessage(handler, null, null);
    }

    @Override
    public void onMessage(MessageHandler handler, MemorySegment block, ShortMessageHandler shortHandler) {
        Objects.requireNonNull(handler, "handler");
        Objects.requireNonNull(block, "block");
        Objects.requireNonNull(shortHandler, "shortHandler");
        if (block.isReadOnly()) {
            throw new IllegalArgumentException("the block for short messages is read-only: expected writable memory");
        }
        if (!block.isAccessibleBy(engine.absentThread())) {
            throw new IllegalArgumentException(
                    "the block for short messages is confined to a thread: expected memory of"
                            + " a shared arena, of Session.allocate, or of the heap, since any thread may call the handler");
        }
        arrivals.handlers().onMessage(handler, block, shortHandler);
    }

    @Override
    public Signal newSignal() {
        return new ChannelSignal(this);
    }

    // ---- peers that leave, and the end

    /**
     * The session has given a peer up: every wait for it ends, and nothing it sends is received any more, even if it is
     * alive.
     */
    public void peerLost(int rank, boolean orderly, String reason) {
        SwitchedConnection connection = connectionOrNull(rank);
        if (connection != null) {
            connection.giveUp(orderly, reason);
        }
    }

    /** The number of peers that are neither lost nor have left. */
    int livePeers() {
        return livePeers.get();
    }

    /**
     * Tells the listener that a connection is about to be lost without the peer having left; no wait has failed yet.
     */
    void tellOfLoss(int rank, LossKind kind, String reason) {
        onLoss.onLost(rank, kind, reason);
    }

    /** A connection is lost. */
    void lost() {
        livePeers.decrementAndGet();
        arrivals.signalLoss();
    }

    /**
     * Whether everything that {@code endPackingAsync} promised has been sent or has failed, and all send tasks have
     * run.
     */
    public boolean isDrained() {
        for (SwitchedConnection connection : byRank) {
            if (connection != null
                    && (connection.sending().isPromised()
                            || connection.sending().tasks().hasTasks())
                    && !connection.isLost()) {
                return false;
            }
        }
        return true;
    }

    /**
     * Whether all discarded messages have been drained, so that their senders are done with them, and no message of
     * this process is on its way.
     */
    public boolean isQuiet() {
        for (SwitchedConnection connection : byRank) {
            if (connection != null
                    && (connection.receiving().isDropping()
                            || connection.sending().isOnItsWay())
                    && !connection.isLost()) {
                return false;
            }
        }
        return true;
    }

    /** Whether a message that is open or on its way uses memory of one of these regions. */
    boolean uses(List<Region> regions) {
        for (SwitchedConnection connection : byRank) {
            if (connection == null) {
                continue;
            }
            for (Region region : regions) {
                if (connection.sending().uses(region) || connection.receiving().uses(region)) {
                    return true;
                }
            }
        }
        return false;
    }

    /** The session begins to close: from now on failing calls give that as the reason, even if a peer ends. */
    void startClosing() {
        closing = true;
    }

    /** Whether this process is closing its session or has closed it, which is then the reason of failures. */
    boolean isClosing() {
        return closing;
    }

    /** Gives up the messages that could not be sent; the leader may still use them until {@link #isStopped}. */
    void stopSending() {
        for (SwitchedConnection connection : byRank) {
            if (connection != null) {
                connection.sending().stop();
            }
        }
        engine.lookAgain();
    }

    /** Whether no message is on its way any more, all send tasks have run, and peers that were given up know it. */
    boolean isStopped() {
        for (SwitchedConnection connection : byRank) {
            if (connection != null
                    && (connection.sending().isOnItsWay()
                            || connection.sending().tasks().hasTasks()
                            || connection.isBeingGivenUp())) {
                return false;
            }
        }
        return true;
    }

    /** Tells the peers that nothing more will come, except those that were given up and are told so. */
    public void finish() {
        Attempts steps = new Attempts();
        for (SwitchedConnection connection : byRank) {
            if (connection != null && !connection.isGivenUp()) {
                steps.take(connection::finish);
            }
        }
        steps.rethrow();
    }

    /** Frees the connections; open messages fail. */
    public void close() {
        startClosing();
        Attempts steps = new Attempts();
        for (SwitchedConnection connection : byRank) {
            if (connection != null) {
                steps.take(connection::closed);
                steps.take(() -> connection.receiving().close());
            }
        }
        steps.take(taskRunner::runRest);
        steps.rethrow();
    }
}
