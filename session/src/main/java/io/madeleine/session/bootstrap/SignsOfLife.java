package io.madeleine.session.bootstrap;

/**
 * When one end of a control connection has to give a sign of life, and whether the other end has given one lately. Any
 * message is a sign.
 *
 * <p>Threading: confined to the thread that receives.
 */
final class SignsOfLife {
    /** The number of signs that an end gives within the timeout: one that is late does no harm. */
    private static final int PER_TIMEOUT = 3;

    /**
     * The number of looks between two signs. An end gives a sign if it has sent nothing for one such wait. The next
     * look comes one wait later at most, so signs are never two waits apart, whenever messages of the other end cut a
     * wait short.
     */
    private static final int LOOKS_PER_SIGN = 2;

    private static final int SHORTEST_WAIT_MS = 10;
    private static final long MS = 1_000_000;

    private final long timeoutNs;
    private final int waitMs;
    private long heardNs;

    /**
     * Begins when the other end has just been heard.
     *
     * @param timeoutNs how long it may be silent
     */
    SignsOfLife(long timeoutNs, long nowNs) {
        this.timeoutNs = timeoutNs;
        this.waitMs = Math.clamp(timeoutNs / MS / (PER_TIMEOUT * LOOKS_PER_SIGN), SHORTEST_WAIT_MS, Integer.MAX_VALUE);
        this.heardNs = nowNs;
    }

    /** The longest wait for a message, in milliseconds. */
    int waitMs() {
        return waitMs;
    }

    /** A sign is due if this end has sent nothing for so long, in nanoseconds. */
    long dueAfterNs() {
        return waitMs * MS;
    }

    /** A message has arrived. */
    void heard(long nowNs) {
        heardNs = nowNs;
    }

    /**
     * A wait for a message has ended without one. The excess over the wait was a pause of this process, perhaps of the
     * whole machine, not silence of the other end.
     */
    void heardNothing(long sinceNs, long nowNs) {
        heardNs += Math.max(0, nowNs - sinceNs - waitMs * MS);
    }

    /** Whether the other end has been silent for too long. */
    boolean areMissing(long nowNs) {
        return nowNs - heardNs > timeoutNs;
    }

    /** The reason for the loss of the other end. */
    String whatIsMissing(long nowNs) {
        return "it gave no sign for " + (nowNs - heardNs) / (1_000 * MS) + " s (madeleine.peer-timeout)";
    }
}
