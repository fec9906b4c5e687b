package io.madeleine.switching;

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
 * The queue of a channel's connections that have a message to begin, and the ways to begin it: a thread that waits for
 * any peer, a thread that waits for one peer, or the channel's handler.
 *
 * <p>Threading: thread-safe.
 */
final class Arrivals {
    /**
     * How often the expected sender is polled directly before all networks are polled: a few microseconds. With fewer
     * polls, two processes that have once missed each other's polls would never meet again in time.
     */
    private static final int DIRECT_POLLS = 128;

    /**
     * After this many messages found by direct polls, all networks are polled once, so that other senders are served.
     */
    private static final int LOOKS_IN_A_ROW = 64;

    private final SwitchedChannel channel;
    private final ProgressEngine engine;
    private final ArrivalQueue<SwitchedConnection> queue;
    private final Waitable arrived;
    private final Condition hasArrived;
    private final AtomicInteger waitingForAnyone = new AtomicInteger();
    private final HandlerDispatch handlers;

    /** The sender of the last message; the next one is expected from there (Nemesis, section 3.2). */
    private volatile @Nullable SwitchedConnection expected;

    private int foundByLook; // racy: lost updates are harmless

    Arrivals(SwitchedChannel channel) {
        this.channel = channel;
        this.engine = channel.engine();
        this.queue = new ArrivalQueue<>(channel.session().size());
        this.arrived = new Waitable(channel.settings().hint(), "use tryBeginUnpacking in place of beginUnpacking");
        this.handlers = new HandlerDispatch(channel, this);
        this.hasArrived = () -> !queue.isEmpty() || channel.isExhausted();
    }

    // ---- arrived messages

    /** Queues a connection that may have a message to begin. */
    void add(SwitchedConnection connection) {
        queue.add(connection);
    }

    /** Wakes one of the threads that wait for a message. */
    void signal() {
        engine.signalOne(arrived);
    }

    /** Whether a thread sleeps until a message arrives from any peer. */
    boolean isAwaited() {
        return engine.isAwaited(arrived);
    }

    /** Wakes all waiting threads after a loss: there may be nothing left to wait for. */
    void signalLoss() {
        engine.signal(arrived);
    }

    // ---- threads that receive

    /** Begins the message of a connection that was taken out of the queue, if the message is still there. */
    @Nullable
    IncomingHandle begin(SwitchedConnection first) {
        try {
            return first.receiving().tryBegin();
        } catch (Throwable e) { // out of memory, for instance: the message is still there
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

    /** Begins the next message of any peer; waits for it. */
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
                if (!engine.await(arrived, hasArrived, deadlineNs)) {
                    throw new DeadlineExceededException("beginUnpacking on channel " + channel.name() + " of rank "
                            + channel.session().rank() + ": no message came from any of the " + channel.livePeers()
                            + " live peers before the deadline");
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
     * Receives the next message in one step, if it arrives within a moment and {@link ReceiveHalf#takeWhole} can take
     * it.
     *
     * @param from the sender, or null for any peer
     * @return the sender, or null: then the caller has to wait for the message and begin it
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
            TemporalSlip slip = receiving.slip();
            boolean _ = slip.pausesIfCaughtUp(sender.sending().messageCount());
            int looks = 0;
            while (found == ReceiveHalf.NOTHING_THERE && looks < DIRECT_POLLS) {
                looks++;
                Thread.onSpinWait();
                found = receiving.takeWhole(block, offset, bytes);
            }
            slip.looked(found != ReceiveHalf.NOTHING_THERE, looks);
        }
        return found == ReceiveHalf.TAKEN ? sender : null;
    }

    /** The expected sender of the next message. Now and then polls all networks, so that other senders are served. */
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
                first.messageArrived(); // the caller begins it in the ordinary way
            }
        }
        if (taken && expected != first) {
            expected = first;
        }
        return taken ? first : null;
    }

    private boolean mayLookAgain(ReceiveHalf receiving) {
        return receiving.isWorthLooking() && !handlers.hasHandler() && engine.maySpin();
    }

    /** Throws the reason if no message can arrive from any peer any more. */
    void throwIfExhausted() {
        if (channel.isExhausted() && queue.isEmpty()) {
            if (channel.isClosing()) {
                throw new SessionException("the session is closed: no message can arrive on channel " + channel.name());
            }
            throw new PeerFailedException(
                    -1,
                    "beginUnpacking on channel " + channel.name() + " of rank "
                            + channel.session().rank()
                            + ": no peer is left that could send, of "
                            + (channel.session().size() - 1)
                            + channel.whyNobodyIsLeft());
        }
    }

    /** Begins the next message of one peer; waits for it. */
    IncomingHandle takeFrom(SwitchedConnection connection, long deadlineNs) {
        ReceiveHalf receiving = connection.receiving();
        IncomingHandle begun = lookFor(connection);
        if (begun != null) {
            return begun;
        }
        connection.addWaiter();
        try {
            while (true) {
                if (!receiving.awaitArrival(deadlineNs)) {
                    throw new DeadlineExceededException("beginUnpacking on channel " + channel.name() + " of rank "
                            + channel.session().rank() + ": no message came from rank " + connection.rank()
                            + " before the deadline");
                }
                begun = receiving.tryBegin();
                if (begun != null) {
                    return begun;
                }
                receiving.throwIfExhausted();
            }
        } finally {
            connection.removeWaiter();
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
        return lookFor(sender);
    }

    /**
     * Polls the expected sender for a moment and calls the handler in the calling thread, which is about to wait in the
     * engine for something that the handler makes true.
     *
     * @param named the expected sender; null stands for the sender of the last message
     * @return whether the condition is met
     */
    boolean handleUntil(BooleanSupplier condition, @Nullable SwitchedConnection named) {
        SwitchedConnection sender = named == null ? expected : named;
        if (sender == null || !handlers.hasHandler() || !sender.receiving().isWorthLooking() || !engine.mayDispatch()) {
            return false;
        }
        if (++foundByLook % LOOKS_IN_A_ROW == 0) {
            engine.progress();
        }
        return handlers.handleUntil(condition, sender, DIRECT_POLLS);
    }

    /** Polls one sender for a moment before all networks are polled. */
    private @Nullable IncomingHandle lookFor(SwitchedConnection sender) {
        ReceiveHalf receiving = sender.receiving();
        IncomingHandle begun = receiving.tryBegin();
        if (begun == null && mayLookAgain(receiving)) {
            TemporalSlip slip = receiving.slip();
            boolean _ = slip.pausesIfCaughtUp(sender.sending().messageCount());
            int looks = 0;
            while (begun == null && looks < DIRECT_POLLS) {
                looks++;
                Thread.onSpinWait();
                begun = receiving.tryBegin();
            }
            slip.looked(begun != null, looks);
        }
        return begun;
    }

    // ---- the handler

    /** The handler for messages that no thread waits for. */
    HandlerDispatch handlers() {
        return handlers;
    }

    /** Whether a thread waits for a message of any peer, so that no handler may take it. */
    boolean isWaitedForByThreads() {
        return waitingForAnyone.get() > 0;
    }

    /** Whether a connection is in the queue. */
    boolean hasQueued() {
        return !queue.isEmpty();
    }

    /** Takes the next connection out of the queue; it may have a message to begin. */
    @Nullable
    SwitchedConnection pollQueue() {
        SwitchedConnection first = queue.poll();
        if (first != null) {
            first.leftQueue();
        }
        return first;
    }

    /** The sender of the last message. */
    @Nullable
    SwitchedConnection expected() {
        return expected;
    }

    void expect(SwitchedConnection sender) {
        expected = sender;
    }
}
