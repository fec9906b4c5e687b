package io.madeleine.nexus;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Executor;

/**
 * How a context behaves. Each {@code with...} answers changed options; {@link #DEFAULT} is the beginning.
 *
 * <p>Threading: immutable.
 *
 * @param maxRunning how many threaded requests are carried out at once; one more is rejected
 * @param executor what runs threaded handlers, if not a virtual thread for each; it has bounds of its own and rejects
 * @param maxQueuedBytes how much, per peer, may wait to be sent for handlers that do not wait; what is more is rejected
 * @param maxOutstanding how many typed calls of this process may be unanswered; one more waits
 * @param maxRequestBytes the largest argument, and the most small arguments, that memory is taken for
 * @param argumentTimeout how long a handler waits for an argument that is on its way
 * @param callTimeout how long a typed call may take that says nothing else
 * @param debug whether non-threaded handlers that block are found and reported
 */
public record ContextOptions(
        int maxRunning,
        Optional<Executor> executor,
        long maxQueuedBytes,
        int maxOutstanding,
        int maxRequestBytes,
        Duration argumentTimeout,
        Duration callTimeout,
        boolean debug) {
    /** The options of a context that says nothing; the system property {@code io.madeleine.nexus.debug} turns debug on. */
    public static final ContextOptions DEFAULT = new ContextOptions(
            4096,
            Optional.empty(),
            16L << 20,
            1 << 16,
            64 << 20,
            Duration.ofSeconds(30),
            Duration.ofSeconds(30),
            Boolean.getBoolean("io.madeleine.nexus.debug"));

    /** Checks the bounds. */
    public ContextOptions {
        check("maxRunning", maxRunning);
        check("maxQueuedBytes", maxQueuedBytes);
        check("maxOutstanding", maxOutstanding);
        check("maxRequestBytes", maxRequestBytes);
        check("argumentTimeout", argumentTimeout.toNanos());
        check("callTimeout", callTimeout.toNanos());
    }

    private static void check(String name, long value) {
        if (value < 1) {
            throw new IllegalArgumentException("ContextOptions." + name + " is " + value + ": expected more than 0");
        }
    }

    long callTimeoutNs() {
        return callTimeout.toNanos();
    }

    long argumentTimeoutNs() {
        return argumentTimeout.toNanos();
    }

    /** With this many threaded requests at once. */
    public ContextOptions withMaxRunning(int requests) {
        return new ContextOptions(
                requests,
                executor,
                maxQueuedBytes,
                maxOutstanding,
                maxRequestBytes,
                argumentTimeout,
                callTimeout,
                debug);
    }

    /** With threaded handlers run by an executor, which stays the caller's. */
    public ContextOptions withExecutor(Executor runner) {
        return new ContextOptions(
                maxRunning,
                Optional.of(runner),
                maxQueuedBytes,
                maxOutstanding,
                maxRequestBytes,
                argumentTimeout,
                callTimeout,
                debug);
    }

    /** With so much waiting to be sent. */
    public ContextOptions withMaxQueuedBytes(long bytes) {
        return new ContextOptions(
                maxRunning, executor, bytes, maxOutstanding, maxRequestBytes, argumentTimeout, callTimeout, debug);
    }

    /** With so many unanswered calls. */
    public ContextOptions withMaxOutstanding(int calls) {
        return new ContextOptions(
                maxRunning, executor, maxQueuedBytes, calls, maxRequestBytes, argumentTimeout, callTimeout, debug);
    }

    /** With arguments of up to that size. */
    public ContextOptions withMaxRequestBytes(int bytes) {
        return new ContextOptions(
                maxRunning, executor, maxQueuedBytes, maxOutstanding, bytes, argumentTimeout, callTimeout, debug);
    }

    /** With calls that may take that long. */
    public ContextOptions withCallTimeout(Duration timeout) {
        return new ContextOptions(
                maxRunning, executor, maxQueuedBytes, maxOutstanding, maxRequestBytes, argumentTimeout, timeout, debug);
    }

    /** With or without a look-out for non-threaded handlers that block. */
    public ContextOptions withDebug(boolean wanted) {
        return new ContextOptions(
                maxRunning,
                executor,
                maxQueuedBytes,
                maxOutstanding,
                maxRequestBytes,
                argumentTimeout,
                callTimeout,
                wanted);
    }
}
