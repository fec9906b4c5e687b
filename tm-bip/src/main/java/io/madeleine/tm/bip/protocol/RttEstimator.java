package io.madeleine.tm.bip.protocol;

/**
 * Estimates the round-trip time (RFC 9002, section 5).
 *
 * <p>Threading: confined.
 */
final class RttEstimator {
    /** Before the first sample; RFC 9002 has 333 ms for the internet. */
    static final long INITIAL_NS = 50_000_000;

    /** The least part of a time-out that stands for variation; timers are not more exact (RFC 9002, section 6.1.2). */
    static final long GRANULARITY_NS = 1_000_000;

    /** The longest sample that counts in full: a longer one shows a busy peer, not a path. */
    static final long LONGEST_NS = 1_000_000_000L;

    private long smoothedNs = INITIAL_NS;
    private long variationNs = INITIAL_NS / 2;
    private long minNs = Long.MAX_VALUE;
    private long latestNs = INITIAL_NS;
    private boolean sampled;

    void sample(long rttNs, long ackDelayNs) {
        latestNs = Math.max(1, Math.min(rttNs, LONGEST_NS));
        minNs = Math.min(minNs, latestNs);
        long adjustedNs = latestNs - ackDelayNs >= minNs ? latestNs - ackDelayNs : latestNs;
        if (sampled) {
            variationNs = (3 * variationNs + Math.abs(smoothedNs - adjustedNs)) / 4;
            smoothedNs = (7 * smoothedNs + adjustedNs) / 8;
        } else {
            sampled = true;
            smoothedNs = adjustedNs;
            variationNs = adjustedNs / 2;
        }
    }

    boolean isSampled() {
        return sampled;
    }

    long smoothedNs() {
        return smoothedNs;
    }

    long variationNs() {
        return variationNs;
    }

    long latestNs() {
        return latestNs;
    }

    long minNs() {
        return sampled ? minNs : INITIAL_NS;
    }

    /** How long to wait for an acknowledgement before a probe (RFC 9002, section 6.2.1). */
    long probeTimeoutNs(long maxAckDelayNs) {
        return smoothedNs + Math.max(4 * variationNs, GRANULARITY_NS) + maxAckDelayNs;
    }

    /** How long after its sending a packet counts as lost if a later one was acknowledged (RFC 9002, section 6.1.2). */
    long lossDelayNs() {
        return Math.max(Math.max(smoothedNs, latestNs) * 9 / 8, GRANULARITY_NS);
    }
}
