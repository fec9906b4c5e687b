package io.madeleine.session;

import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;

/**
 * The end of this process when its session is aborted, here or elsewhere. Nothing that is stuck stands in the way: not the
 * control connection, standard error nor a shutdown hook, since a thread of its own halts the JVM after a bounded time.
 *
 * <p>Threading: thread-safe.
 */
final class SessionEnd implements Bootstrap.EndListener {
    private static final int MAX_CODE = 255;

    /** How long who aborts waits for the server to say whose abort was first. */
    private static final long VERDICT_MS = 1_000;

    private final Membership membership;
    private final long timeoutNs;
    private final Optional<ExitAction> replacement;
    private final AtomicReference<ControlMessage.End> end = new AtomicReference<>();
    private final CountDownLatch heard = new CountDownLatch(1);
    private final CountDownLatch over = new CountDownLatch(1);
    private final AtomicBoolean limited = new AtomicBoolean();
    private final AtomicBoolean taken = new AtomicBoolean();
    private volatile Runnable afterwards = () -> {};

    /** The end of a process: by {@code System.exit}, unless there is another way. */
    SessionEnd(SessionConfig config, Optional<ExitAction> replacement) {
        this.membership = config.membership();
        this.timeoutNs = config.timeouts().abortNs();
        this.replacement = replacement;
    }

    /** What is to be done if the process goes on, since another way of ending it was given. */
    void afterwards(Runnable work) {
        afterwards = work;
    }

    /** Why the session has ended; empty if it has not. */
    Optional<String> reason() {
        return Optional.ofNullable(end.get()).map(ControlMessage.End::toString);
    }

    /** Ends all processes of the session; see {@link io.madeleine.api.Session#abort}. */
    void abort(Bootstrap bootstrap, int code, String reason) {
        if (code < 0 || code > MAX_CODE) {
            throw new IllegalArgumentException("exit code " + code + ": expected 0 to " + MAX_CODE);
        }
        limit(code, timeoutNs + TimeUnit.MILLISECONDS.toNanos(VERDICT_MS));
        start(() -> bootstrap.end(code, reason)); // it may block: the server may be stopped
        awaitQuietly(heard, VERDICT_MS);
        end.compareAndSet(null, new ControlMessage.End(membership.rank(), code, reason));
        carryOut();
    }

    @Override
    public void ended(ControlMessage.End all) {
        end.compareAndSet(null, all);
        heard.countDown();
        limit(all.code(), timeoutNs);
        start(this::carryOut); // the shutdown hooks may want what this thread does
    }

    private void carryOut() {
        ControlMessage.End all = Objects.requireNonNull(end.get(), "an end is known before it is carried out");
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

    /** Halts the JVM after a while, whatever happens: shutdown hooks may hang, or an earlier exit may. */
    private void limit(int code, long patienceNs) {
        if (replacement.isPresent() || !limited.compareAndSet(false, true)) {
            return;
        }
        long deadlineNs = System.nanoTime() + patienceNs;
        start(() -> {
            for (long leftNs = 1; leftNs > 0; leftNs = deadlineNs - System.nanoTime()) {
                LockSupport.parkNanos(leftNs);
            }
            ControlMessage.End all = end.get();
            Runtime.getRuntime().halt(all == null ? code : all.code());
        });
    }

    private void start(Runnable work) {
        try {
            Thread.ofPlatform().daemon().name("madeleine-abort").start(work);
        } catch (OutOfMemoryError e) { // no thread can be made: at least this process ends
            if (replacement.isPresent()) {
                throw e;
            }
            ControlMessage.End all = end.get();
            Runtime.getRuntime().halt(all == null ? 1 : all.code());
        }
    }

    private static void awaitQuietly(CountDownLatch latch, long timeoutMs) {
        try {
            boolean _ = latch.await(timeoutMs, TimeUnit.MILLISECONDS);
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt(); // an interrupted thread may abort, too
        }
    }
}
