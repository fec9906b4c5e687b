package io.madeleine.nexus;

import io.madeleine.api.DeadlineExceededException;
import io.madeleine.api.MadeleineException;
import io.madeleine.api.MessageAbortedException;
import io.madeleine.api.PeerFailedException;
import java.lang.System.Logger.Level;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Reports failures for which no thread waits: counts them, logs them at a bounded rate, and notifies listeners.
 *
 * <p>Threading: thread-safe.
 */
final class FailureReports {
    private static final System.Logger LOGGER = System.getLogger("io.madeleine.nexus");
    private static final long LOG_INTERVAL_NS = 1_000_000_000L;
    private static final long LOGGED_PER_INTERVAL = 8;

    private final int rank;
    private final List<HandlerFailureListener> handlerListeners = new CopyOnWriteArrayList<>();
    private final List<Refusal.Listener> refusalListeners = new CopyOnWriteArrayList<>();
    private final List<SendFailureListener> sendListeners = new CopyOnWriteArrayList<>();
    private final AtomicLong sendFailures = new AtomicLong();
    private final AtomicLong handlerFailures = new AtomicLong();
    private final AtomicLong refused = new AtomicLong();
    private long intervalStartNs;
    private long loggedCount;
    private long unloggedCount;

    FailureReports(int rank) {
        this.rank = rank;
    }

    void listen(HandlerFailureListener listener) {
        handlerListeners.add(listener);
    }

    void listen(Refusal.Listener listener) {
        refusalListeners.add(listener);
    }

    void listen(SendFailureListener listener) {
        sendListeners.add(listener);
    }

    long sendFailureCount() {
        return sendFailures.get();
    }

    long handlerFailureCount() {
        return handlerFailures.get();
    }

    long refusedCount() {
        return refused.get();
    }

    /** Reports an exception that a handler has thrown. */
    void handlerFailed(Endpoint endpoint, String handler, int sender, Throwable cause) {
        log(
                Level.ERROR,
                () -> "handler " + handler + " of " + endpoint + " failed on a request from rank " + sender,
                cause);
        for (HandlerFailureListener listener : handlerListeners) {
            try {
                listener.handlerFailed(endpoint, handler, sender, cause);
            } catch (Throwable e) {
                log(Level.WARNING, () -> "a listener of handler failures failed", e);
            }
        }
        // last: a thread that sees the count knows that the listeners have been called
        handlerFailures.incrementAndGet();
    }

    /** Reports that a peer has refused requests of this process. */
    void refused(Refusal refusal) {
        log(Level.WARNING, () -> "rank " + rank + ": " + refusal, null);
        for (Refusal.Listener listener : refusalListeners) {
            try {
                listener.refused(refusal);
            } catch (Throwable e) {
                log(Level.WARNING, () -> "a listener of refusals failed", e);
            }
        }
        refused.addAndGet(refusal.count());
    }

    /** Reports an exception of an approver, which counts as a refusal. */
    void approverFailed(AttachRequest request, Throwable cause) {
        log(Level.ERROR, () -> "the approver failed on " + request + ", which is refused", cause);
    }

    /** Reports that queued requests could not be sent. */
    void sendFailed(int peer, RuntimeException cause) {
        notSent(() -> "a request from rank " + rank + " to rank " + peer + " is lost: " + cause, peer, cause);
    }

    /** Reports that an answer to a call, or another message of this adapter's own, could not be sent. */
    void noticeNotSent(int peer, RuntimeException cause) {
        notSent(
                () -> "an answer or a notice of rank " + rank + " for rank " + peer + " is lost: " + cause,
                peer,
                cause);
    }

    /** Reports that the answer to a call could not be sent. */
    void answerNotSent(int caller, RuntimeException cause) {
        Object reason = cause instanceof DeadlineExceededException
                ? "the deadline of the call passed before that rank took it"
                : cause;
        notSent(
                () -> "an answer of rank " + rank + " to a call of rank " + caller + " is lost: " + reason,
                caller,
                cause);
    }

    private void notSent(Supplier<String> text, int peer, RuntimeException cause) {
        log(Level.WARNING, text, null);
        for (SendFailureListener listener : sendListeners) {
            try {
                listener.sendFailed(peer, cause);
            } catch (Throwable e) {
                log(Level.WARNING, () -> "a listener of send failures failed", e);
            }
        }
        sendFailures.incrementAndGet();
    }

    /** Reports that the end of a stream could not be sent. */
    void endNotSent(int node, String stream, Throwable cause) {
        try {
            boolean saysAll = cause instanceof MadeleineException;
            log(
                    Level.WARNING,
                    () -> "the end of " + stream + " could not be sent to rank " + node + (saysAll ? ": " + cause : ""),
                    saysAll ? null : cause);
        } catch (Throwable _) { // creating the lambda may run out of memory, too
            return;
        }
    }

    /** Reports that a part of a call of a service's method could not be ended with it. */
    void notEnded(Object method, Throwable cause) {
        try {
            log(Level.WARNING, () -> "a part of the call of " + method + " could not be ended with it", cause);
        } catch (Throwable _) { // creating the lambda may run out of memory, too
            return;
        }
    }

    /**
     * Reports a message that is no valid request, or whose sender is gone before its end. One that its sender has
     * aborted is told as a detail: a stream that is cancelled ends so, and any other sender has had an exception.
     */
    void notReceived(int peer, Throwable cause) {
        try {
            boolean isAbort = cause instanceof MessageAbortedException;
            boolean saysAll = isAbort || cause instanceof PeerFailedException;
            String reason = saysAll ? ": " + cause.getMessage() : "";
            log(
                    isAbort ? Level.DEBUG : Level.WARNING,
                    () -> "a message from rank " + peer + " to rank " + rank + " is dropped" + reason,
                    saysAll ? null : cause);
        } catch (Throwable _) { // creating the lambda may run out of memory, too
            return;
        }
    }

    /** Reports an exception of a subscriber of this process, whose stream is cancelled. */
    void subscriberFailed(Class<?> subscriber, String stream, Throwable cause) {
        log(
                Level.WARNING,
                () -> "rank " + rank + ": the subscriber " + subscriber.getName() + " of " + stream
                        + " has thrown an exception: the stream is cancelled",
                cause);
    }

    /** Logs at a bounded rate. Never throws: its callers have to go on, even if memory is short. */
    private void log(Level level, Supplier<String> text, @Nullable Throwable cause) {
        try {
            if (LOGGER.isLoggable(level)) { // details that nobody reads take no place of warnings
                logSome(level, text, cause);
            }
        } catch (Throwable _) { // a failure of the logger must not end what other threads wait for
            return;
        }
    }

    private synchronized void logSome(Level level, Supplier<String> text, @Nullable Throwable cause) {
        long nowNs = System.nanoTime();
        if (nowNs - intervalStartNs > LOG_INTERVAL_NS || loggedCount == 0) {
            if (unloggedCount > 0) {
                LOGGER.log(Level.WARNING, "rank " + rank + ": " + unloggedCount + " more like these were suppressed");
            }
            intervalStartNs = nowNs;
            loggedCount = 0;
            unloggedCount = 0;
        }
        if (loggedCount++ >= LOGGED_PER_INTERVAL) {
            unloggedCount++;
        } else if (cause == null) {
            LOGGER.log(level, text.get());
        } else {
            LOGGER.log(level, text.get(), cause);
        }
    }
}
