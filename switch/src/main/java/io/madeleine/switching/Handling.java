package io.madeleine.switching;

import io.madeleine.api.Channel.MessageHandler;
import io.madeleine.pmm.Dispatcher;
import io.madeleine.pmm.FailureLog;
import java.util.Objects;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Hands the messages of a channel that no thread waits for to its handler, one after the other: by whoever leads, or by a thread
 * that waits for what the handler brings about.
 *
 * <p>Threading: {@link #onMessage} and {@link #handleUntil} by any thread; the rest by who has the right to call handlers, one
 * thread at a time ({@link Dispatcher}).
 */
final class Handling {
    private static final System.Logger LOGGER = System.getLogger("io.madeleine.switching");
    private static final int HANDLED_PER_ROUND = 16;

    /**
     * How often the leader looks at the sender of the handler's last message in each round: some times as long as its polls
     * take, since what these find comes by the queue, which takes longer. It does so for a while only, some 30 us, for the
     * sake of others who wait.
     */
    private static final int HANDLER_LOOKS = 64;

    private static final int ROUNDS_WITH_LOOKS = 64;

    /** So many messages a thread that waits hands to the handler before it waits in the engine, which serves all. */
    private static final int MOST_BESIDE = 32;

    private final FailureLog failures = new FailureLog(LOGGER);
    private final SwitchedChannel channel;
    private final Arrivals arrivals;
    private volatile @Nullable MessageHandler handler;
    private volatile @Nullable Dispatcher dispatcher;

    /** How many rounds more the handler's expected sender is looked at directly. */
    private int roundsWithLooks;

    /** Where a handler has failed on a message that has not been discarded yet, and its number. */
    private @Nullable ReceiveHalf failed;

    private long failedNumber;

    Handling(SwitchedChannel channel, Arrivals arrivals) {
        this.channel = channel;
        this.arrivals = arrivals;
    }

    boolean hasHandler() {
        return handler != null;
    }

    /** Has a handler called from now on, in place of the one before if there was one. */
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

    /** Whether there may be something to do for whoever leads. */
    private boolean hasWork() {
        return roundsWithLooks > 0 || arrivals.hasQueued() || failed != null;
    }

    // ---- by a thread that waits

    /**
     * Looks so often whether a message of that sender has come, and calls the handler for it, until the condition is met; returns
     * whether it is. To be called by a thread that {@linkplain io.madeleine.pmm.ProgressEngine#mayDispatch() may}.
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

    /** Calls the handler for the next message of that sender, if it has come and no other thread calls handlers just now. */
    private boolean handleNext(SwitchedConnection sender) {
        Dispatcher within = dispatcher;
        if (within == null || !sender.receiving().mayBegin() || isForThreads(sender) || !within.tryEnter()) {
            return false;
        }
        try {
            return hasHandler() && handleFirstOf(within, sender);
        } finally {
            within.leave();
            if (arrivals.hasQueued() && !arrivals.isWaitedForByThreads()) { // by a leader that found this thread inside
                channel.engine().callRound();
            }
        }
    }

    /** The message of that sender, and then those that are queued, which no other thread can have handled meanwhile. */
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
        return arrivals.isWaitedForByThreads() || sender.hasClaims();
    }

    // ---- by whoever leads

    /** Hands messages that have arrived to the handler, outside all polls; returns how many. */
    private int dispatch() {
        Dispatcher within = dispatcher;
        if (!hasHandler() || within == null) { // it is being added
            return 0;
        }
        discardFailed();
        int handled = handleQueued(within);
        return handled > 0 ? handled : look(within); // the leader may have waited for what has been handled
    }

    private int handleQueued(Dispatcher within) {
        int handled = 0;
        for (int i = 0; i < HANDLED_PER_ROUND && !arrivals.isWaitedForByThreads() && !within.hasLetGo(); i++) {
            SwitchedConnection first = arrivals.pollQueue();
            if (first == null) {
                break;
            }
            IncomingHandle begun = first.hasClaims() ? null : arrivals.begin(first);
            if (begun != null) {
                expectFrom(first);
                handle(within, first, begun);
                handled++;
            }
        }
        return handled;
    }

    /** For a while after each message of the expected sender, looks for the next one; returns how many were handled. */
    private int look(Dispatcher within) {
        SwitchedConnection sender = arrivals.expected();
        if (roundsWithLooks == 0 || sender == null) {
            return 0;
        }
        roundsWithLooks--;
        return lookAndHandle(within, sender);
    }

    /** The next message for the handler may come from there, too, if the one before did. */
    private void expectFrom(SwitchedConnection sender) {
        if (arrivals.expected() != sender) {
            arrivals.expect(sender);
            roundsWithLooks = 0;
        } else if (sender.receiving().isWorthLooking()) {
            roundsWithLooks = ROUNDS_WITH_LOOKS;
        }
    }

    /**
     * Looks at one sender for a moment; hands a message found there to the handler without the polls, the queue and the wake-ups
     * through which other messages come; returns how many.
     */
    private int lookAndHandle(Dispatcher within, SwitchedConnection sender) {
        ReceiveHalf receiving = sender.receiving();
        for (int looks = HANDLER_LOOKS; looks > 0 && !isForThreads(sender); looks--) {
            IncomingHandle begun = receiving.tryBegin();
            if (begun != null) {
                roundsWithLooks = ROUNDS_WITH_LOOKS;
                handle(within, sender, begun);
                return 1; // whoever leads may have waited for what the handler did
            }
        }
        return 0;
    }

    /**
     * The handler is that of now: whoever looked for the message may have begun to before there was this one. The object may stand for
     * another message when it returns: what fails is known by its number.
     */
    private void handle(Dispatcher within, SwitchedConnection sender, IncomingHandle begun) {
        MessageHandler current = Objects.requireNonNull(handler);
        ReceiveHalf receiving = sender.receiving();
        long number = begun.number();
        within.handling(receiving.news());
        boolean wasInterrupted = Thread.interrupted(); // which is not the handler's business
        try {
            current.onMessage(begun);
        } catch (Throwable e) { // the thread that happens to call it is not to blame
            failedNumber = number; // without a call: its stack may have come to its end
            failed = receiving;
            discardFailed();
            log(sender, e);
        } finally {
            channel.engine().afterUsersCode(wasInterrupted);
        }
    }

    /** If the stack ends in here, too, the next round does it. */
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
            // as little as the handler's does a log's failure end what others wait for
        }
    }
}
