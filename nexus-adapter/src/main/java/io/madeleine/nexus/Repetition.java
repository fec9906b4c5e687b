package io.madeleine.nexus;

import io.madeleine.api.DeadlineExceededException;
import io.madeleine.api.PeerFailedException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

/**
 * What follows when a call of an {@link Idempotent} method fails: whether it is made again, where, and when.
 *
 * <p>Threading: confined to one attempt at a time.
 */
final class Repetition {
    /** It is not made again. */
    static final long NEVER = -1;

    private static final long FIRST_PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(1);

    /** Ten thousand callers ask 20,000 times a second then. */
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

    Repetition(Node node, Calls.Target[] targets, ServiceMethod method, long deadlineNs) {
        this.node = node;
        this.targets = targets;
        this.method = method;
        this.deadlineNs = deadlineNs;
    }

    /** Where it goes. */
    Calls.Target target() {
        return targets[target];
    }

    /** After how long it is made again, or {@link #NEVER}. */
    long pauseNsAfter(Throwable failure) {
        if (failure
                instanceof OverloadedException refused) { // no switch: without memory its first time would be its last
            return pauseNsAfterRefusal(refused);
        }
        if (failure instanceof UnavailableException) {
            return mayLoseAnother() && ++target < targets.length ? 0 : NEVER; // here, or at that target
        }
        if (failure instanceof PeerFailedException) {
            boolean isAlone = node.nodes().get(target().rank()).isGone(); // else another method is tried
            return mayLoseAnother() && (!isAlone || ++target < targets.length) ? 0 : NEVER;
        }
        return NEVER;
    }

    private boolean mayLoseAnother() {
        return ++lostCount < method.attempts();
    }

    /** Each waits for itself, and so that those who were refused together do not come together again. */
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
        isLast = true; // and with time for the answer
        return leftNs / 2 + ThreadLocalRandom.current().nextLong(leftNs / 4);
    }

    /** What a call that is not made again after that failure ends with. */
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
