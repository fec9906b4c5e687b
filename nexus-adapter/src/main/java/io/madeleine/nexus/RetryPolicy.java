package io.madeleine.nexus;

import io.madeleine.api.DeadlineExceededException;
import io.madeleine.api.PeerFailedException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

/**
 * Decides whether, where and when a call of an {@link Idempotent} method is repeated after a failure.
 *
 * <p>Threading: confined to one attempt at a time.
 */
final class RetryPolicy {
    /** The call is not repeated. */
    static final long NEVER = -1;

    private static final long FIRST_PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(1);

    /** Bounds the pause to half a second: ten thousand callers then make 20,000 attempts a second. */
    private static final int MOST_DOUBLINGS = 9;

    private final Node node;
    private final Calls.Target[] targets;
    private final ServiceMethod method;
    private final long beginNs = System.nanoTime();
    private final long deadlineNs;
    private int target;
    private int lostCount;
    private int refusedCount;
    private String lastRefusal = "";
    private boolean isLast;

    RetryPolicy(Node node, Calls.Target[] targets, ServiceMethod method, long deadlineNs) {
        this.node = node;
        this.targets = targets;
        this.method = method;
        this.deadlineNs = deadlineNs;
    }

    /** The node and endpoint of the next attempt. */
    Calls.Target target() {
        return targets[target];
    }

    /** The pause before the next attempt, or {@link #NEVER}. */
    long pauseNsAfter(Throwable failure) {
        if (failure instanceof OverloadedException refused) {
            // not a pattern switch: its first execution allocates, and if that fails it fails for good
            return pauseNsAfterRefusal(refused);
        }
        if (failure instanceof UnavailableException) {
            // that target is closing, or this context is
            return mayLoseAnother() && ++target < targets.length ? 0 : NEVER;
        }
        if (failure instanceof PeerFailedException) {
            boolean isAlone = node.nodes().get(target().rank()).isGone(); // else another communication method is tried
            return mayLoseAnother() && (!isAlone || ++target < targets.length) ? 0 : NEVER;
        }
        return NEVER;
    }

    private boolean mayLoseAnother() {
        return ++lostCount < method.attempts();
    }

    /**
     * The pause after a refusal: exponential with a random part, so that calls refused together do not come back
     * together.
     */
    private long pauseNsAfterRefusal(OverloadedException refused) {
        lastRefusal = String.valueOf(refused.getMessage());
        long meanNs = FIRST_PAUSE_NS << Math.min(refusedCount++, MOST_DOUBLINGS);
        long pauseNs = meanNs / 2 + ThreadLocalRandom.current().nextLong(meanNs);
        long leftNs = deadlineNs - System.nanoTime();
        if (pauseNs < leftNs) {
            return pauseNs;
        }
        if (isLast || leftNs < 2 * FIRST_PAUSE_NS) {
            return NEVER;
        }
        isLast = true; // half to three quarters of the time left, which leaves time for the answer
        return leftNs / 2 + ThreadLocalRandom.current().nextLong(leftNs / 4);
    }

    /** The failure of a call that is not repeated after {@code failure}. */
    Throwable end(Throwable failure) {
        if (refusedCount == 0) {
            return failure;
        }
        String refusals = "was refused " + refusedCount + " times within "
                + TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - beginNs) + " ms, at last: " + lastRefusal;
        if (failure instanceof OverloadedException) {
            return new OverloadedException("the call of " + method + " to rank " + target().rank()
                    + " has not been carried out until its deadline (@CallTimeout, ContextOptions.callTimeout): it "
                    + refusals);
        }
        return failure instanceof DeadlineExceededException
                ? new DeadlineExceededException(failure.getMessage() + "; before, it " + refusals, failure)
                : failure;
    }
}
