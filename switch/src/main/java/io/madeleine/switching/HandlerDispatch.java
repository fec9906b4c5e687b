package io.madeleine.switching;

import io.madeleine.api.Channel.MessageHandler;
import io.madeleine.api.Channel.ShortMessageHandler;
import io.madeleine.pmm.Dispatcher;
import io.madeleine.pmm.FailureLog;
import io.madeleine.pmm.Waitable;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Passes the messages that no thread waits for to the channel's handler, one after the other. The leader calls the
 * handler, or a thread that waits for something that the handler makes true.
 *
 * <p>Threading: any thread may call {@link #onMessage} and {@link #handleUntil}; the rest needs the right to call
 * handlers, which one thread has at a time ({@link Dispatcher}).
 */
final class HandlerDispatch {
    private static final System.Logger LOGGER = System.getLogger("io.madeleine.switching");
    private static final int HANDLED_PER_ROUND = 16;

    /**
     * How often per round the leader polls the sender of the handler's last message directly. This takes several times
     * as long as the polls of a round. But a message that those polls find goes through the queue, which takes longer
     * still. The leader does this for {@link #ROUNDS_WITH_LOOKS} rounds, some 30 µs, and then spends its time on the
     * others again.
     */
    private static final int HANDLER_LOOKS = 64;

    private static final int ROUNDS_WITH_LOOKS = 64;

    /**
     * How many messages a waiting thread passes to the handler before it waits in the engine, which serves all
     * connections.
     */
    private static final int MOST_BESIDE = 64;

    private final FailureLog failures = new FailureLog(LOGGER);
    private final SwitchedChannel channel;
    private final Arrivals arrivals;
    private final Waitable nothing = new Waitable();
    private volatile @Nullable Handlers handlers;
    private volatile @Nullable Dispatcher dispatcher;

    /** For how many more rounds the expected sender is polled directly. */
    private int roundsWithLooks;

    /** The connection and number of a message on which the handler has failed and that has not been discarded yet. */
    private @Nullable ReceiveHalf failed;

    private long failedNumber;

    /** What receives messages; short ones are copied into the block if there is one. */
    private record Handlers(
            MessageHandler any,
            @Nullable MemorySegment block,
            @Nullable ShortMessageHandler ofShort) {}

    HandlerDispatch(SwitchedChannel channel, Arrivals arrivals) {
        this.channel = channel;
        this.arrivals = arrivals;
    }

    boolean hasHandler() {
        return handlers != null;
    }

    /** Sets the handler, and the one for short messages if there is a block; replaces the previous ones, if any. */
    synchronized void onMessage(
            MessageHandler wanted, @Nullable MemorySegment block, @Nullable ShortMessageHandler ofShort) {
        handlers = new Handlers(wanted, block, ofShort);
        if (dispatcher == null) {
            dispatcher = channel.engine()
                    .addDispatcher(
                            "channel " + channel.name(),
                            this::dispatch,
                            this::hasWork,
                            channel.settings().hint());
        }
    }

    /** Whether the leader may have something to do here. */
    private boolean hasWork() {
        return roundsWithLooks > 0 || arrivals.hasQueued() || failed != null;
    }

    // ---- called by a waiting thread

    /**
     * Polls the sender up to {@code looks} times after each of its messages and calls the handler for them, until the
     * condition is met. The caller must be allowed to call handlers:
     * {@link io.madeleine.pmm.ProgressEngine#mayDispatch()}.
     *
     * @return whether the condition is met
     */
    boolean handleUntil(BooleanSupplier condition, SwitchedConnection sender, int looks) {
        Dispatcher within = dispatcher;
        if (within != null) {
            within.visit();
        }
        int handled = 0;
        for (int left = looks; left > 0 && handled < MOST_BESIDE; left--) {
            int found = goOn(sender.receiving()) ? 1 : handleNext(sender, condition, MOST_BESIDE - handled);
            if (found > 0) {
                handled += found;
                left = looks;
            }
            if (condition.getAsBoolean()) {
                return true;
            }
            if (sender.sending().isOnItsWay()) {
                return false; // the condition may depend on it, and only a leader goes on with it
            }
            Thread.onSpinWait();
        }
        return false;
    }

    /**
     * Takes what has arrived of a message that its handler has left to those who poll; returns whether there was any.
     */
    private static boolean goOn(ReceiveHalf receiving) {
        return receiving.isUnderWay() && receiving.onReadable() > 0;
    }

    /**
     * Calls the handler for the messages of the sender that have arrived, until the condition is met, if no other
     * thread is calling handlers; returns for how many.
     */
    private int handleNext(SwitchedConnection sender, BooleanSupplier condition, int most) {
        Dispatcher within = dispatcher;
        if (within == null || !sender.receiving().mayBegin() || isForThreads(sender) || !within.tryEnter()) {
            return 0;
        }
        try {
            if (!hasHandler() || !handleFirstOf(within, sender)) {
                return 0;
            }
            return condition.getAsBoolean() ? 1 : 1 + handleMore(within, sender, condition, most - 1);
        } finally {
            within.leave();
            if (arrivals.hasQueued() && !arrivals.isWaitedForByThreads()) { // a leader may have skipped them for us
                channel.engine().requestRound();
            }
        }
    }

    private int handleMore(Dispatcher within, SwitchedConnection sender, BooleanSupplier condition, int most) {
        int handled = 0;
        while (handled < most
                && sender.receiving().mayBegin()
                && !isForThreads(sender)
                && !within.hasReleasedLead()
                && handleFirstOf(within, sender)) {
            handled++;
            if (condition.getAsBoolean()) {
                break;
            }
        }
        return handled;
    }

    /**
     * Handles the message of the sender, and then the queued messages, which no other thread could handle meanwhile.
     */
    private boolean handleFirstOf(Dispatcher within, SwitchedConnection sender) {
        discardFailed();
        boolean found = handleOneOf(within, sender);
        if (arrivals.hasQueued()) {
            int _ = handleQueued(within);
        }
        return found;
    }

    private boolean isForThreads(SwitchedConnection sender) {
        return arrivals.isWaitedForByThreads() || sender.hasWaiters();
    }

    // ---- called by the leader

    /** Passes arrived messages to the handler, outside all polls; returns how many. */
    private int dispatch() {
        Dispatcher within = dispatcher;
        if (!hasHandler() || within == null) { // onMessage is running
            return 0;
        }
        discardFailed();
        int handled = handleQueued(within);
        return handled > 0 ? handled : look(within); // the leader may have waited for what the handler has just done
    }

    private int handleQueued(Dispatcher within) {
        int handled = 0;
        for (int i = 0; i < HANDLED_PER_ROUND && !arrivals.isWaitedForByThreads() && !within.hasReleasedLead(); i++) {
            SwitchedConnection first = arrivals.pollQueue();
            if (first == null) {
                break;
            }
            if (!first.hasWaiters() && handleQueuedOf(within, first)) {
                handled++;
            }
        }
        return handled;
    }

    private boolean handleQueuedOf(Dispatcher within, SwitchedConnection first) {
        try {
            return handleOneOf(within, first);
        } catch (Throwable e) { // out of memory, for instance: the message is still there
            first.messageArrived();
            throw e;
        }
    }

    /** Handles the next message of the sender, if it has arrived. */
    private boolean handleOneOf(Dispatcher within, SwitchedConnection sender) {
        Handlers now = Objects.requireNonNull(handlers);
        ReceiveHalf receiving = sender.receiving();
        if (now.block() != null && now.ofShort() != null && now.ofShort().accepts(sender.rank())) {
            int bytes = receiving.takeShort(now.block());
            if (bytes >= 0) {
                expectFrom(sender);
                handleShort(within, now.ofShort(), sender, bytes);
                return true;
            }
            if (bytes == ReceiveHalf.NOTHING_THERE) {
                return false;
            }
        }
        IncomingHandle begun = receiving.tryBegin();
        if (begun == null) {
            return false;
        }
        expectFrom(sender);
        handle(within, sender, begun);
        return true;
    }

    /** Polls the expected sender for a while after each of its messages; returns how many messages were handled. */
    private int look(Dispatcher within) {
        SwitchedConnection sender = arrivals.expected();
        if (roundsWithLooks == 0 || sender == null) {
            return 0;
        }
        roundsWithLooks--;
        return lookAndHandle(within, sender);
    }

    /**
     * Expects the next message for the handler from this sender, and polls it directly if the previous one came from
     * it, too.
     */
    private void expectFrom(SwitchedConnection sender) {
        if (arrivals.expected() != sender) {
            arrivals.expect(sender);
            roundsWithLooks = 0;
        } else if (sender.receiving().isWorthLooking()) {
            roundsWithLooks = ROUNDS_WITH_LOOKS;
        }
    }

    /**
     * Polls one sender for a moment. A message found this way needs no other polls, no queue and no wake-up.
     *
     * @return how many messages were handled
     */
    private int lookAndHandle(Dispatcher within, SwitchedConnection sender) {
        for (int looks = HANDLER_LOOKS; looks > 0 && !isForThreads(sender); looks--) {
            if (handleOneOf(within, sender)) {
                roundsWithLooks = ROUNDS_WITH_LOOKS;
                return 1; // the leader may have waited for what the handler did
            }
        }
        return 0;
    }

    /**
     * Calls the current handler: the thread that found the message may have begun before this handler was set. When the
     * handler returns, the message object may stand for another message, so a message that failed is identified by its
     * number.
     */
    private void handle(Dispatcher within, SwitchedConnection sender, IncomingHandle begun) {
        MessageHandler current = Objects.requireNonNull(handlers).any();
        ReceiveHalf receiving = sender.receiving();
        long number = begun.number();
        within.handling(receiving.changed());
        boolean wasInterrupted = Thread.interrupted(); // the interrupt is not meant for the handler
        try {
            current.onMessage(begun);
        } catch (Throwable e) { // not thrown on: the calling thread did not cause it
            failedNumber = number; // a field access first: there may be no stack left for a call
            failed = receiving;
            discardFailed();
            log(sender, e);
        } finally {
            channel.engine().afterUsersCode(wasInterrupted);
        }
    }

    /** Calls the handler for a short message, which has been taken as a whole and may not be waited for. */
    private void handleShort(Dispatcher within, ShortMessageHandler current, SwitchedConnection sender, int bytes) {
        within.handling(nothing);
        boolean wasInterrupted = Thread.interrupted(); // the interrupt is not meant for the handler
        try {
            current.onMessage(sender.rank(), bytes);
        } catch (Throwable e) { // not thrown on: the calling thread did not cause it
            log(sender, e);
        } finally {
            channel.engine().afterUsersCode(wasInterrupted);
        }
    }

    /** Discards the message of a failed handler. If this overflows the stack, too, the next round repeats it. */
    private void discardFailed() {
        ReceiveHalf left = failed;
        if (left != null) {
            left.discard(failedNumber);
            failed = null;
        }
    }

    private void log(SwitchedConnection sender, Throwable failure) {
        try {
            failures.error(
                    "the handler of channel " + channel.name() + " failed on a message from rank " + sender.rank()
                            + "; the message is discarded",
                    failure);
        } catch (RuntimeException | Error _) {
            // a failing logger must not end the progress of others either
        }
    }
}
