package io.madeleine.tm.bip.protocol;

/**
 * Bounds how many bytes are under way, and how fast they leave. The window grows as in NewReno (RFC 9002, section 7). A
 * loss narrows it. If neither the round-trip times nor the number of losses show congestion, the window stays as large
 * as what the path holds without a queue, as in TCP Westwood. So a random loss costs no throughput.
 *
 * <p>Threading: confined.
 */
final class CongestionWindow {
    /** The window of a new connection. */
    static final int INITIAL_BYTES = 65_536;

    /** The least window, in datagrams. */
    static final int LEAST_DATAGRAMS = 2;

    /** There is a queue if the least round-trip time of a round is this much above the least of all rounds. */
    static final long QUEUE_NS = 1_000_000;

    /** A round is congested if more than one byte in this many was lost. */
    static final int LOSS_SHARE = 8;

    /** More by this many standard deviations: early in a round a few losses are a large share by chance. */
    static final double DEVIATIONS = 2;

    /** The path holds this many times what it delivers in the least round-trip time; above 1 it finds free capacity. */
    static final double PATH_GAIN = 1.1;

    /** A window below what the path holds grows by one byte for this many that arrive, even after losses. */
    static final int REGROWTH = 8;

    /** A peer that polls seldom acknowledges late: by this many times the variation of the round-trip time. */
    static final double LATENESS = 1.5;

    /** Datagrams leave this many times as fast as the path delivers. */
    static final double PACING_GAIN = 1.25;

    /** As above, while the window grows fast. */
    static final double FAST_PACING_GAIN = 2.5;

    private final long mostBytes;
    private final DeliveryRate rate = new DeliveryRate();
    private long windowBytes = INITIAL_BYTES;
    private long thresholdBytes = Long.MAX_VALUE;
    private long roundEnd; // the first packet number of the next round
    private long roundAckedBytes;
    private long roundLostBytes;
    private long roundLeastNs = Long.MAX_VALUE; // the least round-trip time of this round
    private long lastRoundLeastNs = Long.MAX_VALUE; // and of the one before
    private boolean hasNarrowed; // in this round
    private boolean isCongested; // in this round
    private boolean isFull; // in this round

    CongestionWindow(long mostBytes) {
        this.mostBytes = mostBytes;
    }

    long bytes() {
        return windowBytes;
    }

    boolean permits(long inFlightBytes) {
        return inFlightBytes < windowBytes;
    }

    /** How many bytes the path holds without a queue, and a little more. */
    private double pathBytes(RttEstimator rtt) {
        return rate.bytesPerNs() * (PATH_GAIN * rtt.minNs() + LATENESS * rtt.variationNs());
    }

    /** How many bytes may leave per nanosecond; 0 if there is no bound. */
    double pacingRate(RttEstimator rtt) {
        return rtt.minNs() < Pacer.LEAST_ROUND_TRIP_NS
                ? 0
                : rate.bytesPerNs() * (windowBytes < thresholdBytes ? FAST_PACING_GAIN : PACING_GAIN);
    }

    /** Bytes were acknowledged; {@code number} is the largest acknowledged, {@code next} the next to be sent. */
    void acknowledged(
            int bytes, long number, long next, boolean wasLimited, int datagramBytes, RttEstimator rtt, long nowNs) {
        rate.acknowledged(bytes);
        roundAckedBytes += bytes;
        roundLeastNs = Math.min(roundLeastNs, rtt.latestNs());
        isFull |= wasLimited;
        if (wasLimited) {
            grow(bytes, datagramBytes, rtt);
        }
        if (number >= roundEnd) {
            endRound(next, wasLimited, rtt, nowNs);
        }
    }

    private void grow(int bytes, int datagramBytes, RttEstimator rtt) {
        if (isCongested) {
            return;
        }
        if (windowBytes < thresholdBytes && roundLostBytes == 0) {
            windowBytes += bytes;
        } else if (windowBytes < pathBytes(rtt)) {
            windowBytes += bytes / REGROWTH;
        } else if (roundLostBytes == 0) {
            windowBytes += Math.max(1, (long) datagramBytes * bytes / windowBytes);
        }
        windowBytes = Math.min(windowBytes, mostBytes);
    }

    /** A queue delays all datagrams of a round; a peer that polls seldom delays only some. */
    private boolean showsQueue(RttEstimator rtt) {
        long leastNs = Math.min(roundLeastNs, lastRoundLeastNs);
        return leastNs > rtt.minNs() + Math.max(QUEUE_NS, rtt.minNs() / 4);
    }

    private void endRound(long next, boolean wasLimited, RttEstimator rtt, long nowNs) {
        rate.endRound(nowNs, isFull);
        lastRoundLeastNs = roundLeastNs;
        if (windowBytes < thresholdBytes && wasLimited && showsQueue(rtt)) {
            thresholdBytes = windowBytes; // the end of the fast growth, before anything is lost
        }
        roundEnd = next;
        roundAckedBytes = 0;
        roundLostBytes = 0;
        roundLeastNs = Long.MAX_VALUE;
        hasNarrowed = false;
        isCongested = false;
        isFull = false;
    }

    void lost(int bytes, int datagramBytes, RttEstimator rtt) {
        roundLostBytes += bytes;
        boolean isMuch = isMuchLost(datagramBytes);
        if (isMuch ? !isCongested : !hasNarrowed) {
            hasNarrowed = true;
            isCongested = isMuch;
            narrow(datagramBytes, isMuch || showsQueue(rtt) ? 0 : (long) pathBytes(rtt));
        }
    }

    /** Whether more of this round is lost than chance makes of a path that loses one byte in {@link #LOSS_SHARE}. */
    private boolean isMuchLost(int datagramBytes) {
        double usualBytes = (double) roundAckedBytes / LOSS_SHARE;
        double spreadBytes = DEVIATIONS * Math.sqrt(usualBytes * datagramBytes);
        return roundLostBytes > Math.max(4.0 * datagramBytes, usualBytes + spreadBytes);
    }

    private void narrow(int datagramBytes, long leastBytes) {
        long least = Math.max(leastBytes, (long) LEAST_DATAGRAMS * datagramBytes);
        windowBytes = Math.min(windowBytes, Math.max(windowBytes * 6 / 10, least));
        thresholdBytes = windowBytes;
    }

    /** Begins anew, because nothing was acknowledged for several time-outs (RFC 9002, section 7.6). */
    void collapse(int datagramBytes) {
        thresholdBytes = Math.max(windowBytes / 2, (long) LEAST_DATAGRAMS * datagramBytes);
        windowBytes = (long) LEAST_DATAGRAMS * datagramBytes;
    }
}
