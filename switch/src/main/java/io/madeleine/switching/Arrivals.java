package io.madeleine.switching;

import io.madeleine.api.Channel.MessageHandler;
import io.madeleine.api.DeadlineExceededException;
import io.madeleine.api.PeerFailedException;
import io.madeleine.api.ReceiveMode;
import io.madeleine.api.SendMode;
import io.madeleine.api.SessionException;
import io.madeleine.pmm.ArrivalQueue;
import io.madeleine.pmm.Condition;
import io.madeleine.pmm.ProgressEngine;
import io.madeleine.pmm.Waitable;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The connections of a channel with a message to be begun, and who begins it: a thread that waits for anyone's or for one
 * peer's, or the channel's handler.
 *
 * <p>Threading: thread-safe.
 */
final class Arrivals {
    /**
     * How often an expected sender is looked at before all networks are driven: a few microseconds. For less, two processes
     * that have once missed each other's looks would never again be in time.
     */
    private static final int LOOKS = 128;

    /** Every so many messages found by such a look, all networks are driven once, for the other senders' sake. */
    private static final int LOOKS_IN_A_ROW = 64;

    private final SwitchedChannel channel;
    private final ProgressEngine engine;
    private final ArrivalQueue<SwitchedConnection> queue;
    private final Waitable news;
    private final Condition hasNews;
    private final AtomicInteger waitingForAnyone = new AtomicInteger();
    private final Handling handling;

    /** Whose message was opened last; the next one is expected from there (Nemesis, section 3.2). */
    private volatile @Nullable SwitchedConnection expected;

    private int foundByLook; // lost counts do no harm

    Arrivals(SwitchedChannel channel) {
        this.channel = channel;
        this.engine = channel.engine();
        this.queue = new ArrivalQueue<>(channel.session().size());
        this.news = new Waitable(channel.settings().hint(), "use tryBeginUnpacking in place of beginUnpacking");
        this.handling = new Handling(channel, this);
        this.hasNews = () -> !queue.isEmpty() || channel.isExhausted();
    }

    // ---- what has come

    /** A message of this connection may be begun. */
    void add(SwitchedConnection connection) {
        queue.add(connection);
    }

    /** One of those who wait for a message is enough. */
    void signal() {
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

    // ---- threads that receive

    /** Begins the message of a connection that was taken out of the queue, if there still is one. */
    @Nullable
    IncomingHandle begin(SwitchedConnection first) {
        try {
            return first.receiving().tryBegin();
        } catch (Throwable e) { // no memory, for instance: the message is still there
            first.messageArrived();
            throw e;
        }
    }

    /** Begins a message that has arrived, if there is one. */
    @Nullable
    IncomingHandle tryTake() {
        for (SwitchedConnection first = pollQueue(); first != null; first = pollQueue()) {
            IncomingHandle begun = begin(first);
            if (begun != null) {
                if (expected != first) {
                    expected = first;
                }
                return begun;
            }
        }
        return null;
    }

    /** Begins the next message, of anyone; waits for it. */
    IncomingHandle take(long deadlineNs) {
        IncomingHandle begun = tryTake();
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
                    throw new DeadlineExceededException("beginUnpacking on channel " + channel.name() + " of rank "
                            + channel.session().rank() + ": no message came from any of the " + channel.livePeers()
                            + " live peers in time");
                }
                begun = tryTake();
                if (begun != null) {
                    return begun;
                }
                throwIfExhausted();
            }
        } finally {
            waitingForAnyone.decrementAndGet();
        }
    }

    /**
     * Receives the next message whole, of one peer or, if that is null, of anyone, if it comes in a moment and {@link
     * ReceiveHalf#takeWhole} can take it; returns its sender, or null: then it is to be waited for and begun.
     */
    @Nullable
    SwitchedConnection takeWhole(
            @Nullable SwitchedConnection from,
            MemorySegment block,
            long offset,
            long bytes,
            SendMode sendMode,
            ReceiveMode receiveMode) {
        SwitchedConnection sender = from == null ? nextExpected() : from;
        if (from == null && !queue.isEmpty()) {
            return takeWholeQueued(block, offset, bytes, sendMode, receiveMode);
        }
        if (sender == null || !sender.receiving().mayTakeWhole(bytes, sendMode, receiveMode)) {
            return null;
        }
        ReceiveHalf receiving = sender.receiving();
        int found = receiving.takeWhole(block, offset, bytes);
        if (found == ReceiveHalf.NOTHING_THERE && mayLookAgain(receiving)) {
            for (int looks = LOOKS; found == ReceiveHalf.NOTHING_THERE && looks > 0; looks--) {
                Thread.onSpinWait();
                found = receiving.takeWhole(block, offset, bytes);
            }
        }
        return found == ReceiveHalf.TAKEN ? sender : null;
    }

    /** From whom the next message is expected; now and then, all networks are driven for the others' sake. */
    private @Nullable SwitchedConnection nextExpected() {
        if (++foundByLook % LOOKS_IN_A_ROW == 0) {
            engine.progress();
        }
        return expected;
    }

    private @Nullable SwitchedConnection takeWholeQueued(
            MemorySegment block, long offset, long bytes, SendMode sendMode, ReceiveMode receiveMode) {
        SwitchedConnection first = pollQueue();
        if (first == null) {
            return null;
        }
        ReceiveHalf receiving = first.receiving();
        boolean taken = false;
        try {
            taken = receiving.mayTakeWhole(bytes, sendMode, receiveMode)
                    && receiving.takeWhole(block, offset, bytes) == ReceiveHalf.TAKEN;
        } finally {
            if (!taken && receiving.hasArrived()) {
                first.messageArrived(); // it is to be begun
            }
        }
        if (taken && expected != first) {
            expected = first;
        }
        return taken ? first : null;
    }

    private boolean mayLookAgain(ReceiveHalf receiving) {
        return receiving.isWorthLooking() && !handling.hasHandler() && engine.maySpin();
    }

    /** Tells why no message will ever arrive any more from anyone, if so. */
    void throwIfExhausted() {
        if (channel.isExhausted() && queue.isEmpty()) {
            if (channel.isClosing()) {
                throw new SessionException(
                        "the session is closed: nothing arrives any more on channel " + channel.name());
            }
            throw new PeerFailedException(
                    -1,
                    "beginUnpacking on channel " + channel.name() + " of rank "
                            + channel.session().rank()
                            + ": no live peer is left that could send, of "
                            + (channel.session().size() - 1)
                            + channel.whyNobodyIsLeft());
        }
    }

    /** Begins the next message of one peer; waits for it. */
    IncomingHandle takeFrom(SwitchedConnection connection, long deadlineNs) {
        ReceiveHalf receiving = connection.receiving();
        IncomingHandle begun = lookFor(receiving);
        if (begun != null) {
            return begun;
        }
        connection.claimArrivals();
        try {
            while (true) {
                if (!receiving.awaitArrival(deadlineNs)) {
                    throw new DeadlineExceededException("beginUnpacking on channel " + channel.name() + " of rank "
                            + channel.session().rank() + ": no message came from rank " + connection.rank()
                            + " in time");
                }
                begun = receiving.tryBegin();
                if (begun != null) {
                    return begun;
                }
                receiving.throwIfExhausted();
            }
        } finally {
            connection.unclaimArrivals();
        }
    }

    private @Nullable IncomingHandle takeExpected() {
        SwitchedConnection sender = expected;
        if (sender == null) {
            return null;
        }
        if (++foundByLook % LOOKS_IN_A_ROW == 0) {
            engine.progress();
            IncomingHandle begun = tryTake();
            if (begun != null) {
                return begun;
            }
        }
        return lookFor(sender.receiving());
    }

    /**
     * Has the calling thread, which is about to wait in the engine for what a handler brings about, look at the sender of whom it expects
     * that for a moment, and call the handler itself; returns whether the condition is met. Where the session's own thread sleeps,
     * for which senders ring, one look has to do: the engine takes the lead from it.
     *
     * @param named the sender; null stands for that of the last message
     */
    boolean handleUntil(BooleanSupplier condition, @Nullable SwitchedConnection named) {
        SwitchedConnection sender = named == null ? expected : named;
        if (sender == null || !handling.hasHandler() || !sender.receiving().isWorthLooking() || !engine.mayDispatch()) {
            return false;
        }
        if (++foundByLook % LOOKS_IN_A_ROW == 0) {
            engine.progress();
        }
        return handling.handleUntil(condition, sender, engine.isLeadAsleep() ? 1 : LOOKS);
    }

    /** Looks at one sender for a moment before all networks are driven. */
    private @Nullable IncomingHandle lookFor(ReceiveHalf receiving) {
        IncomingHandle begun = receiving.tryBegin();
        if (begun == null && mayLookAgain(receiving)) {
            for (int looks = LOOKS; begun == null && looks > 0; looks--) {
                Thread.onSpinWait();
                begun = receiving.tryBegin();
            }
        }
        return begun;
    }

    // ---- the handler

    /** Has a handler called for messages that nobody waits for. */
    void onMessage(MessageHandler wanted) {
        handling.onMessage(wanted);
    }

    /** Whether a thread waits for a message of anyone, so that no handler is to take it. */
    boolean isWaitedForByThreads() {
        return waitingForAnyone.get() > 0;
    }

    /** Whether a connection is in the queue. */
    boolean hasQueued() {
        return !queue.isEmpty();
    }

    /** Takes the next connection out of the queue that may have a message to be begun. */
    @Nullable
    SwitchedConnection pollQueue() {
        SwitchedConnection first = queue.poll();
        if (first != null) {
            first.leftQueue();
        }
        return first;
    }

    /** Whose message was begun last. */
    @Nullable
    SwitchedConnection expected() {
        return expected;
    }

    void expect(SwitchedConnection sender) {
        expected = sender;
    }
}
