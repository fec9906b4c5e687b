package io.madeleine.tm.bip.protocol;

/**
 * Measures how many bytes a path delivers per time: the bytes that were acknowledged in a round, divided by its
 * duration, as in TCP Westwood+ (Mascolo et al., SIGCOMM 2001; Grieco and Mascolo, CCR 2004). The highest rate of the
 * latest rounds counts. A round in which the sender had little to send shows less than the path can deliver, so it can
 * only raise the rate.
 *
 * <p>Threading: confined.
 */
final class DeliveryRate {
    /** This many full rounds make a period; the highest rate of this period and the one before counts. */
    static final int PERIOD_ROUNDS = 8;

    private long roundBytes;
    private long roundBeganNs;
    private boolean isMeasuring;
    private int rounds;
    private double highest;
    private double highestBefore;

    /** Bytes per nanosecond; 0 before the first round is over. */
    double bytesPerNs() {
        return Math.max(highest, highestBefore);
    }

    void acknowledged(int bytes) {
        roundBytes += bytes;
    }

    /**
     * A round is over: a datagram that was sent after the round had begun was acknowledged.
     *
     * @param wasFull whether the sender had to wait for the window in this round
     */
    void endRound(long nowNs, boolean wasFull) {
        if (isMeasuring && nowNs - roundBeganNs > 0) {
            highest = Math.max(highest, (double) roundBytes / (nowNs - roundBeganNs));
        }
        if (wasFull && ++rounds == PERIOD_ROUNDS) {
            rounds = 0;
            highestBefore = highest;
            highest = 0;
        }
        isMeasuring = true;
        roundBeganNs = nowNs;
        roundBytes = 0;
    }
}
