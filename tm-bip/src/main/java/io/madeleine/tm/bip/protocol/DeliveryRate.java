package io.madeleine.tm.bip.protocol;

/**
 * Measures how many bytes a path delivers in a time: those that were acknowledged in each round, by its duration, as
 * TCP Westwood+ does (Mascolo et al., SIGCOMM 2001; Grieco and Mascolo, CCR 2004). The highest of some rounds counts. A
 * round in which the sender had little to send shows less than the path gives, so it only raises the rate.
 *
 * <p>Threading: confined.
 */
final class DeliveryRate {
    /** So many full rounds make a period; the highest rate of this period and the one before counts. */
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
     * A round is over: the first datagram was acknowledged that was sent after the round had begun.
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
