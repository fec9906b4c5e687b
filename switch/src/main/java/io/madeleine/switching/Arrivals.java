package io.madeleine.switching;

import io.madeleine.api.Channel.MessageHandler;
import io.madeleine.api.DeadlineExceededException;
import io.madeleine.api.PeerFailedException;
import io.madeleine.pmm.ArrivalQueue;
import io.madeleine.pmm.Condition;
import io.madeleine.pmm.ProgressEngine;
import io.madeleine.pmm.Waitable;
import java.lang.System.Logger.Level;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * The connections of a channel with a message to be begun, and who begins it: a thread that waits for anyone's or for one
 * peer's, or the channel's handler.
 *
 * <p>Threading: thread-safe.
 */
final class Arrivals {
    private static final System.Logger LOGGER = System.getLogger("io.madeleine.switching");
    private static final int HANDLED_PER_ROUND = 16;

    /**
     * How often an expected sender is looked at before all networks are driven: a few microseconds. For less, two processes
     * that have once missed each other's looks would never again be in time.
     */
    private static final int LOOKS = 128;

    /**
     * How often the leader looks at the sender of the handler's last message in each round: some times as long as its polls
     * take, since what these find comes by the queue, which takes longer. It does so for a while only, some 30 us, for the
     * sake of others who wait.
     */
    private static final int HANDLER_LOOKS = 64;

    private static final int ROUNDS_WITH_LOOKS = 64;

    /** Every so many messages found by such a look, all networks are driven once, for the other senders' sake. */
    private static final int LOOKS_IN_A_ROW = 64;

    private final SwitchedChannel channel;
    private final ProgressEngine engine;
    private final ArrivalQueue<SwitchedConnection> queue;
    private final Waitable news;
    private final Condition hasNews;
    private final AtomicInteger waitingForAnyone = new AtomicInteger();
    private volatile @Nullable MessageHandler handler;

    /** Whose message was opened last; the next one is expected from there (Nemesis, section 3.2). */
    private volatile @Nullable SwitchedConnection expected;

    private int foundByLook; // lost counts do no harm

    /** How many rounds more the handler's expected sender is looked at directly; the leader's. */
    private int roundsWithLooks;

    Arrivals(SwitchedChannel channel) {
        this.channel = channel;
        this.engine = channel.engine();
        this.queue = new ArrivalQueue<>(channel.session().size());
        this.news = new Waitable(channel.settings().hint());
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

    /** Begins a message that has arrived, if there is one. */
    @Nullable
    IncomingHandle tryTake() {
        for (SwitchedConnection first = queue.poll(); first != null; first = queue.poll()) {
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
                if (channel.isExhausted() && queue.isEmpty()) {
                    throw new PeerFailedException(
                            -1,
                            "beginUnpacking on channel " + channel.name() + " of rank "
                                    + channel.session().rank()
                                    + ": no live peer is left that could send, of "
                                    + (channel.session().size() - 1)
                                    + channel.whyNobodyIsLeft());
                }
            }
        } finally {
            waitingForAnyone.decrementAndGet();
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
                if (receiving.isExhausted()) {
                    throw connection.failure();
                }
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

    // ---- the handler

    /** Has a handler called for messages that nobody waits for. */
    synchronized void onMessage(MessageHandler wanted) {
        boolean isFirst = handler == null;
        handler = wanted;
        if (isFirst) {
            engine.addDispatcher(this::dispatch, channel.settings().hint());
        }
    }

    /** Hands arrived messages that nobody waits for to the handler, outside all polls; returns how many. The leader calls. */
    private int dispatch() {
        MessageHandler current = handler;
        if (current == null) {
            return 0;
        }
        int handled = 0;
        for (int i = 0; i < HANDLED_PER_ROUND && waitingForAnyone.get() == 0; i++) {
            SwitchedConnection first = queue.poll();
            if (first == null) {
                break;
            }
            first.leftQueue();
            IncomingHandle begun = first.hasClaims() ? null : first.receiving().tryBegin();
            if (begun != null) {
                expectFrom(first);
                handle(current, begun);
                handled++;
            }
        }
        return handled > 0 ? handled : look(current); // the leader may have waited for what has been handled
    }

    /** For a while after each message of the expected sender, looks for the next one; returns how many were handled. */
    private int look(MessageHandler current) {
        SwitchedConnection sender = expected;
        if (roundsWithLooks == 0 || sender == null) {
            return 0;
        }
        roundsWithLooks--;
        return lookAndHandle(current, sender);
    }

    /** The next message for the handler may come from there, too, if the one before did. */
    private void expectFrom(SwitchedConnection sender) {
        if (expected != sender) {
            expected = sender;
            roundsWithLooks = 0;
        } else if (sender.receiving().isWorthLooking()) {
            roundsWithLooks = ROUNDS_WITH_LOOKS;
        }
    }

    /**
     * Looks at one sender for a moment; hands a message found there to the handler without the polls, the queue and the wake-ups
     * through which other messages come; returns how many.
     */
    private int lookAndHandle(MessageHandler current, SwitchedConnection sender) {
        ReceiveHalf receiving = sender.receiving();
        for (int looks = HANDLER_LOOKS; looks > 0 && waitingForAnyone.get() == 0 && !sender.hasClaims(); looks--) {
            IncomingHandle begun = receiving.tryBegin();
            if (begun != null) {
                roundsWithLooks = ROUNDS_WITH_LOOKS;
                handle(current, begun);
                return 1; // whoever leads may have waited for what the handler did
            }
        }
        return 0;
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
}
