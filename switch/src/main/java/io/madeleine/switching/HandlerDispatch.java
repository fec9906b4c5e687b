package io.madeleine.switching;

import io.madeleine.api.Channel.MessageHandler;
import io.madeleine.pmm.Dispatcher;
import io.madeleine.pmm.FailureLog;
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
     * How often per round the leader polls the sender of the handler's last message directly. That takes some times as
     * long as the polls of a round; a message that the polls find goes through the queue, which takes longer. The
     * leader does this for {@link #ROUNDS_WITH_LOOKS} rounds, some 30 µs, and then spends its time on the others again.
     */
    private static final int HANDLER_LOOKS = 64;

    private static final int ROUNDS_WITH_LOOKS = 64;

    /**
     * How many messages a waiting thread passes to the handler before it waits in the engine, which serves all
     * connections.
     */
    private static final int MOST_BESIDE = 32;

    private final FailureLog failures = new FailureLog(LOGGER);
    private final SwitchedChannel channel;
    private final Arrivals arrivals;
    private volatile @Nullable MessageHandler handler;
    private volatile @Nullable Dispatcher dispatcher;

    /** For how many more rounds the expected sender is polled directly. */
    private int roundsWithLooks;

    /** The connection and number of a message on which the handler has failed and that has not been discarded yet. */
    private @Nullable ReceiveHalf failed;

    private long failedNumber;

    HandlerDispatch(SwitchedChannel channel, Arrivals arrivals) {
        this.channel = channel;
        this.arrivals = arrivals;
    }

    boolean hasHandler() {
        return handler != null;
    }

    /** Sets the handler; replaces the previous one, if any. */
    synchronized void onMessage(MessageHandler wanted) {
        handler = wanted;
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
        int handled = 0;
        for (int left = looks; left > 0 && handled < MOST_BESIDE; left--) {
            if (handleNext(sender)) {
                handled++;
                left = looks;
            }
            if (condition.getAsBoolean()) {
                return true;
            }
            Thread.onSpinWait();
        }
        return false;
    }

    /**
     * Calls the handler for the next message of the sender, if it has arrived and no other thread is calling handlers.
     */
    private boolean handleNext(SwitchedConnection sender) {
        Dispatcher within = dispatcher;
        if (within == null || !sender.receiving().mayBegin() || isForThreads(sender) || !within.tryEnter()) {
            return false;
        }
        try {
            return hasHandler() && handleFirstOf(within, sender);
        } finally {
            within.leave();
            if (arrivals.hasQueued() && !arrivals.isWaitedForByThreads()) { // a leader may have skipped them for us
                channel.engine().requestRound();
            }
        }
    }

    /**
     * Handles the message of the sender, and then the queued messages, which no other thread could handle meanwhile.
     */
    private boolean handleFirstOf(Dispatcher within, SwitchedConnection sender) {
        discardFailed();
        IncomingHandle begun = sender.receiving().tryBegin();
        if (begun != null) {
            expectFrom(sender);
            handle(within, sender, begun);
        }
        if (arrivals.hasQueued()) {
            int _ = handleQueued(within);
        }
        return begun != null;
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
        for (int i = 0; i < HANDLED_PER_ROUND && !arrivals.isWaitedForByThreads() && !within.hasLetGo(); i++) {
            SwitchedConnection first = arrivals.pollQueue();
            if (first == null) {
                break;
            }
            IncomingHandle begun = first.hasWaiters() ? null : arrivals.begin(first);
            if (begun != null) {
                expectFrom(first);
                handle(within, first, begun);
                handled++;
            }
        }
        return handled;
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
        ReceiveHalf receiving = sender.receiving();
        for (int looks = HANDLER_LOOKS; looks > 0 && !isForThreads(sender); looks--) {
            IncomingHandle begun = receiving.tryBegin();
            if (begun != null) {
                roundsWithLooks = ROUNDS_WITH_LOOKS;
                handle(within, sender, begun);
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
        MessageHandler current = Objects.requireNonNull(handler);
        ReceiveHalf receiving = sender.receiving();
        long number = begun.number();
        within.handling(receiving.news());
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
