package io.madeleine.tm.bip.protocol;

/**
 * Spreads a window over the round trip, so that it does not reach a queue of the path all at once (RFC 9002, section
 * 7.7). It lets small bursts pass, because a process does not check its timers all the time.
 *
 * <p>Threading: confined.
 */
final class Pacer {
    /** On shorter paths a window is little more than a burst, so nothing is spread. */
    static final long LEAST_ROUND_TRIP_NS = 200_000;

    /** The most bytes that leave at once, unless the window is much larger. */
    static final int BURST_BYTES = 65_536;

    /** One part in this many of the window may leave at once after a pause, as far as it has come due in the pause. */
    static final int WINDOW_SHARE = 4;

    /** The next datagrams wait until this many bytes may leave: a timer for each datagram would cost too much. */
    static final int LEAST_BURST_BYTES = 8_192;

    private double allowedBytes = BURST_BYTES;
    private double bytesPerNs;
    private long refilledNs;

    /**
     * Sets the time, and how many bytes may leave per nanosecond from now on; 0 for no bound.
     *
     * @param windowBytes how many bytes may be under way
     */
    void refill(long nowNs, double rate, long windowBytes) {
        if (rate == 0 || bytesPerNs == 0) {
            allowedBytes = BURST_BYTES;
        } else {
            double dueBytes = allowedBytes + Math.max(0, nowNs - refilledNs) * bytesPerNs;
            allowedBytes = Math.min((double) Math.max(BURST_BYTES, windowBytes / WINDOW_SHARE), dueBytes);
        }
        bytesPerNs = rate;
        refilledNs = nowNs;
    }

    boolean permits() {
        return allowedBytes > 0;
    }

    void sent(int bytes) {
        if (bytesPerNs > 0) {
            allowedBytes -= bytes;
        }
    }

    /** When the next datagrams may leave; only for a rate above 0. */
    long deadlineNs() {
        return refilledNs + 1 + (long) ((LEAST_BURST_BYTES - allowedBytes) / bytesPerNs);
    }
}
