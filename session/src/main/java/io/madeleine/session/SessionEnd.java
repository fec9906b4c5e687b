package io.madeleine.session;

import io.madeleine.session.bootstrap.Bootstrap;
import io.madeleine.session.bootstrap.ControlMessage;
import io.madeleine.session.config.Membership;
import io.madeleine.session.config.SessionConfig;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;

/**
 * Ends this process when its session is aborted, here or elsewhere. A thread halts the JVM after a bounded time, so
 * neither a blocked control connection nor a blocked standard error nor a hanging shutdown hook can prevent the end.
 *
 * <p>Threading: thread-safe.
 */
final class SessionEnd implements Bootstrap.EndListener {
    private static final int MAX_CODE = 255;

    /** How long an aborting thread waits for the server to say which abort came first. */
    private static final long VERDICT_MS = 1_000;

    private final Membership membership;
    private final long timeoutNs;
    private final Optional<ExitAction> replacement;
    private final AtomicReference<ControlMessage.SessionAbort> end = new AtomicReference<>();
    private final CountDownLatch heard = new CountDownLatch(1);
    private final CountDownLatch over = new CountDownLatch(1);
    private final AtomicBoolean limited = new AtomicBoolean();
    private final AtomicBoolean taken = new AtomicBoolean();
    private volatile Runnable afterwards = () -> {};

    /** @param replacement the action that ends the process; empty for {@code System.exit} */
    SessionEnd(SessionConfig config, Optional<ExitAction> replacement) {
        this.membership = config.membership();
        this.timeoutNs = config.timeouts().abortNs();
        this.replacement = replacement;
    }

    /** Sets the action to run if the process goes on because the {@link ExitAction} has returned. */
    void afterwards(Runnable work) {
        afterwards = work;
    }

    /** Why the session was aborted; empty if it was not. */
    Optional<String> reason() {
        return Optional.ofNullable(end.get()).map(ControlMessage.SessionAbort::toString);
    }

    /** Ends all processes of the session; see {@link io.madeleine.api.Session#abort}. */
    void abort(Bootstrap bootstrap, int code, String reason) {
        if (code < 0 || code > MAX_CODE) {
            throw new IllegalArgumentException("exit code " + code + ": expected 0 to " + MAX_CODE);
        }
        limit(code, timeoutNs + TimeUnit.MILLISECONDS.toNanos(VERDICT_MS));
        start(() -> bootstrap.end(code, reason)); // in a thread of its own: sending blocks if the server is stopped
        awaitQuietly(heard, VERDICT_MS);
        end.compareAndSet(null, new ControlMessage.SessionAbort(membership.rank(), code, reason));
        carryOut();
    }

    @Override
    public void ended(ControlMessage.SessionAbort all) {
        end.compareAndSet(null, all);
        heard.countDown();
        limit(all.code(), timeoutNs);
        start(this::carryOut); // in a thread of its own: shutdown hooks may need the thread that brought the abort
    }

    private void carryOut() {
        ControlMessage.SessionAbort all = Objects.requireNonNull(end.get(), "an end is known before it is carried out");
        if (!taken.compareAndSet(false, true)) {
            awaitQuietly(over, TimeUnit.NANOSECONDS.toMillis(timeoutNs));
            return;
        }
        if (all.rank() == membership.rank()) {
            System.err.println("madeleine: session " + membership.name() + ": rank " + all.rank() + " (process "
                    + ProcessHandle.current().pid() + ") aborts with exit code " + all.code() + ": " + all.reason());
        }
        if (replacement.isEmpty()) {
            System.exit(all.code());
        }
        try {
            replacement.get().exit(all.code(), all.toString());
        } finally {
            afterwards.run();
            over.countDown();
        }
    }

    /** Halts the JVM after {@code patienceNs}, since shutdown hooks or an earlier {@code System.exit} may hang. */
    private void limit(int code, long patienceNs) {
        if (replacement.isPresent() || !limited.compareAndSet(false, true)) {
            return;
        }
        long deadlineNs = System.nanoTime() + patienceNs;
        start(() -> {
            for (long leftNs = 1; leftNs > 0; leftNs = deadlineNs - System.nanoTime()) {
                LockSupport.parkNanos(leftNs);
            }
            ControlMessage.SessionAbort all = end.get();
            Runtime.getRuntime().halt(all == null ? code : all.code());
        });
    }

    private void start(Runnable work) {
        try {
            Thread.ofPlatform().daemon().name("madeleine-abort").start(work);
        } catch (OutOfMemoryError e) { // no thread can be started: end at least this process
            if (replacement.isPresent()) {
                throw e;
            }
            ControlMessage.SessionAbort all = end.get();
            Runtime.getRuntime().halt(all == null ? 1 : all.code());
        }
    }

    private static void awaitQuietly(CountDownLatch latch, long timeoutMs) {
        try {
            boolean _ = latch.await(timeoutMs, TimeUnit.MILLISECONDS);
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt(); // the abort goes on: an interrupted thread may abort, too
        }
    }
}
