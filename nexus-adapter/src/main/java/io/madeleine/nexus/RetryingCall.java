package io.madeleine.nexus;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A call that returns a future and may be repeated. During the pause it is an entry in the JDK's timer and occupies no
 * thread; a virtual thread makes the next attempt.
 *
 * <p>Threading: thread-safe.
 */
final class RetryingCall {
    private final Calls calls;
    private final Semaphore turns;
    private final ServiceMethod method;
    private final @Nullable Object @Nullable [] parameters;
    private final long deadlineNs;
    private final @Nullable OutgoingCall outgoing;
    private final RetryPolicy policy;
    private final PendingCall.Async.Future future = new PendingCall.Async.Future();
    private final Runnable again = RemoteCall.wrap(this::attempt);
    private volatile @Nullable Attempt current;
    private volatile @Nullable CompletableFuture<Void> pause;

    /** Creates a call that has its turn, and gives it back at its end. */
    RetryingCall(
            Calls calls,
            Semaphore turns,
            RetryPolicy policy,
            ServiceMethod method,
            @Nullable Object @Nullable [] parameters,
            long deadlineNs,
            @Nullable OutgoingCall outgoing) {
        this.calls = calls;
        this.turns = turns;
        this.policy = policy;
        this.method = method;
        this.parameters = parameters;
        this.deadlineNs = deadlineNs;
        this.outgoing = outgoing;
    }

    /** Makes the first attempt; does not wait for its end. */
    PendingCall.Async.Future start() {
        future.whenGivenUp(this::giveUp);
        attempt();
        return future;
    }

    private void attempt() {
        Calls.Target target = policy.target();
        Attempt attempt = new Attempt(calls.nextId(), target.rank());
        current = attempt;
        if (future.isDone()) {
            return;
        }
        try {
            if (outgoing != null) {
                outgoing.goesTo(target.rank());
            }
            calls.begin(attempt, target, parameters);
        } catch (Throwable e) {
            attempt.fail(e);
            return;
        }
        if (future.isDone()) { // cancelled before the attempt was visible
            boolean _ = calls.giveUp(attempt);
        }
    }

    /** One attempt of the call. */
    private final class Attempt extends PendingCall.Unattended {
        Attempt(long id, int rank) {
            super(id, rank, method, deadlineNs, outgoing);
        }

        @Override
        void succeed(@Nullable Object value) {
            future.finish(() -> {
                if (future.answer(value)) {
                    turns.release();
                }
            });
        }

        @Override
        void fail(Throwable failure) {
            long pauseNs = policy.pauseNsAfter(failure);
            if (pauseNs == RetryPolicy.NEVER) {
                Throwable end = policy.end(failure);
                future.finish(() -> {
                    if (future.fail(end)) {
                        turns.release();
                    }
                });
            } else if (pauseNs == 0) {
                Thread.startVirtualThread(again);
            } else {
                makeAgainAfter(pauseNs);
            }
        }
    }

    private void makeAgainAfter(long pauseNs) {
        CompletableFuture<Void> timer = new CompletableFuture<Void>();
        CompletableFuture<Void> _ = timer.thenRunAsync(again, Thread::startVirtualThread);
        pause = timer;
        if (!future.isDone()) {
            CompletableFuture<Void> _ = timer.completeOnTimeout(null, pauseNs, TimeUnit.NANOSECONDS);
        }
    }

    /** Called by any thread when the user has cancelled or completed the future. */
    private void giveUp() {
        turns.release();
        CompletableFuture<Void> timer = pause;
        if (timer != null) {
            timer.cancel(false);
        }
        Attempt attempt = current;
        if (attempt != null && calls.remove(attempt) != null) {
            // the notice may wait, and the JDK's timer thread, which also completes futures, must not
            Thread.startVirtualThread(() -> calls.tellGivenUp(attempt));
        }
    }
}
