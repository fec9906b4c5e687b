package io.madeleine.tm.bip.protocol;

/**
 * How many bytes may be under way. The window grows as that of NewReno (RFC 9002, section 7). A loss narrows it only if
 * it comes from congestion: the round-trip time shows a queue, or much of a round was lost. Other losses come from the
 * path, and a narrower window would not make them fewer.
 *
 * <p>Threading: confined.
 */
final class CongestionWindow {
    /** The window of a new connection. */
    static final int INITIAL_BYTES = 65_536;

    /** The least window, in datagrams. */
    static final int LEAST_DATAGRAMS = 2;

    /** A round-trip time so much above the least shows a queue. */
    static final long QUEUE_NS = 1_000_000;

    /** A round in which more than one in so many bytes were lost is congested, whatever the delay. */
    static final int LOSS_SHARE = 8;

    private final long mostBytes;
    private long windowBytes = INITIAL_BYTES;
    private long thresholdBytes = Long.MAX_VALUE;
    private long roundEnd; // the first packet number of the next round
    private long roundAckedBytes;
    private long roundLostBytes;
    private boolean narrowedInRound;
    private boolean lostInRound;

    CongestionWindow(long mostBytes) {
        this.mostBytes = mostBytes;
    }

    long bytes() {
        return windowBytes;
    }

    boolean permits(long inFlightBytes) {
        return inFlightBytes < windowBytes;
    }

    private static boolean showsQueue(RttEstimator rtt) {
        return rtt.latestNs() > rtt.minNs() + Math.max(QUEUE_NS, rtt.minNs() / 4);
    }

    /** Bytes were acknowledged; {@code number} is the largest acknowledged, {@code next} the next to be sent. */
    void acknowledged(int bytes, long number, long next, boolean wasLimited, int datagramBytes, RttEstimator rtt) {
        roundAckedBytes += bytes;
        if (wasLimited && !lostInRound) {
            if (windowBytes < thresholdBytes) {
                windowBytes += bytes;
            } else {
                windowBytes += Math.max(1, (long) datagramBytes * bytes / windowBytes);
            }
            windowBytes = Math.min(windowBytes, mostBytes);
        }
        if (number >= roundEnd) {
            if (windowBytes < thresholdBytes && wasLimited && showsQueue(rtt)) {
                thresholdBytes = windowBytes; // the end of the fast growth, before anything is lost
            }
            roundEnd = next;
            roundAckedBytes = 0;
            roundLostBytes = 0;
            narrowedInRound = false;
            lostInRound = false;
        }
    }

    void lost(int bytes, int datagramBytes, RttEstimator rtt) {
        roundLostBytes += bytes;
        lostInRound = true;
        boolean congested =
                showsQueue(rtt) || roundLostBytes > Math.max(4L * datagramBytes, roundAckedBytes / LOSS_SHARE);
        if (congested && !narrowedInRound) {
            narrowedInRound = true;
            windowBytes = Math.max(windowBytes * 7 / 10, (long) LEAST_DATAGRAMS * datagramBytes);
            thresholdBytes = windowBytes;
        }
    }

    /** Nothing was acknowledged for several time-outs: begins anew (RFC 9002, section 7.6). */
    void collapse(int datagramBytes) {
        thresholdBytes = Math.max(windowBytes / 2, (long) LEAST_DATAGRAMS * datagramBytes);
        windowBytes = (long) LEAST_DATAGRAMS * datagramBytes;
    }
}
