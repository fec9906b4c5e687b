package io.madeleine.tm.bip.protocol;

/**
 * Finds out which datagrams arrived and which were lost, and when to probe (RFC 9002, section 6). A datagram counts as
 * lost if one that was sent sufficiently later was acknowledged. If nothing is acknowledged, probes go out after a
 * time-out that doubles each time.
 *
 * <p>Threading: confined.
 */
final class Recovery {
    /** What happens to a datagram. */
    interface Fate {
        /** It was acknowledged. */
        void acknowledged(long number);

        /** It counts as lost. */
        void lost(long number);
    }

    /** A datagram counts as lost if one this many numbers later was acknowledged (RFC 9002, section 6.1.1). */
    static final int REORDER_LEAST = 3;

    /** The largest such distance, after spurious losses: paths may reorder by that much. */
    static final int REORDER_MOST = 128;

    /** The longest time between two probes. */
    static final long LONGEST_TIMEOUT_NS = 1_000_000_000L;

    /** The first time-out sends this many datagrams; each further one sends a PING, until something is acknowledged. */
    static final int PROBES = 2;

    /** After this many time-outs in a row the congestion window begins anew. */
    static final int COLLAPSE_TIMEOUTS = 3;

    static final long NONE = Long.MAX_VALUE;

    final SentPackets sent = new SentPackets();
    final RttEstimator rtt = new RttEstimator();
    final CongestionWindow window;
    final PathProbe path;

    private final Pacer pacer = new Pacer();
    private final Fate fate;
    private final EndpointSettings settings;
    private int reorder = REORDER_LEAST;
    private int patience = 1;
    private long largestAcked = -1;
    private long lossTimeNs = NONE;
    private long lastAskedNs;
    private int timeouts;
    private int probesDue;
    private boolean wasLimited;
    private boolean isPaced; // data would leave now if the pacer let it
    private int largeLost; // datagrams above the safe size that were lost in a row
    private long largeLostSinceNs;

    Recovery(EndpointSettings settings, Fate fate) {
        this.settings = settings;
        this.fate = fate;
        this.window = new CongestionWindow(2L * (settings.shortWindowBytes() + settings.longWindowBytes()));
        this.path = new PathProbe(settings.maxDatagramBytes());
    }

    /** The largest packet number that the peer has acknowledged; -1 before the first. */
    long largestAcked() {
        return largestAcked;
    }

    // ---- sending

    /** Whether data may be sent now. */
    boolean permits() {
        if (probesDue > 0) {
            return timeouts <= 1;
        }
        if (timeouts > 1) {
            return false;
        }
        boolean free = window.permits(sent.inFlightBytes()) && !sent.isFull();
        wasLimited |= !free;
        isPaced = free && !pacer.permits();
        return free && !isPaced;
    }

    boolean isProbeDue() {
        return probesDue > 0;
    }

    void sent(long number, int length, long nowNs) {
        sent.sent(number, length, nowNs);
        pacer.sent(length);
        lastAskedNs = nowNs;
        if (probesDue > 0) {
            probesDue--;
        }
    }

    // ---- acknowledgements; begin, then each range, then end

    private long newestNumber;
    private int newlyAcked;
    private boolean spurious;

    void beginAck() {
        newestNumber = -1;
        newlyAcked = 0;
        spurious = false;
    }

    void ackRange(long low, long high) {
        for (long number = Math.max(low, sent.oldest()); number <= high; number++) {
            if (sent.isInFlight(number)) {
                newestNumber = Math.max(newestNumber, number);
                newlyAcked += sent.bytes(number);
                sent.acknowledged(number);
                if (sent.bytes(number) > DatagramLayout.SAFE_DATAGRAM_BYTES) {
                    largeLost = 0;
                }
                if ((sent.flags(number) & SentPackets.PATH_PROBE) != 0) {
                    path.acknowledged(sent.bytes(number));
                }
                fate.acknowledged(number);
            } else if (sent.isLost(number)) {
                spurious = true;
                sent.acknowledged(number);
                fate.acknowledged(number);
            }
        }
    }

    void endAck(long largest, long ackDelayNs, long nowNs) {
        largestAcked = Math.max(largestAcked, largest);
        if (spurious) {
            reorder = Math.min(REORDER_MOST, 2 * reorder);
            patience = Math.min(4, patience + 1);
        }
        if (newlyAcked == 0) {
            return;
        }
        long roundTripNs = nowNs - sent.timeNs(newestNumber);
        if (newestNumber == largest && roundTripNs > 0) { // the time may be that of a poll that began before the send
            rtt.sample(roundTripNs, ackDelayNs);
        }
        timeouts = 0;
        probesDue = 0;
        window.acknowledged(newlyAcked, largestAcked, sent.next(), wasLimited, path.bytes(), rtt, nowNs);
        wasLimited = false;
        detectLosses(nowNs);
        sent.forget(nowNs - rtt.smoothedNs());
    }

    private void detectLosses(long nowNs) {
        lossTimeNs = NONE;
        long delayNs = rtt.lossDelayNs() * patience;
        for (long number = sent.oldest(); number < largestAcked; number++) {
            if (!sent.isInFlight(number)) {
                continue;
            }
            if (largestAcked - number >= reorder || nowNs - sent.timeNs(number) >= delayNs) {
                countAsLost(number, nowNs);
            } else {
                lossTimeNs = Math.min(lossTimeNs, sent.timeNs(number) + delayNs);
            }
        }
    }

    private void countAsLost(long number, long nowNs) {
        boolean isPathProbe = (sent.flags(number) & SentPackets.PATH_PROBE) != 0;
        if (isPathProbe) {
            path.lost(nowNs);
        } else {
            window.lost(sent.bytes(number), path.bytes(), rtt);
            if (sent.bytes(number) > DatagramLayout.SAFE_DATAGRAM_BYTES) {
                largeLost(nowNs);
            }
        }
        sent.lost(number, nowNs);
        fate.lost(number);
    }

    /** A full queue drops many in a row, too, but not for long. */
    private void largeLost(long nowNs) {
        if (largeLost++ == 0) {
            largeLostSinceNs = nowNs;
        }
        boolean isLong = nowNs - largeLostSinceNs >= rtt.probeTimeoutNs(settings.ackDelayNs());
        if (largeLost >= PathProbe.BLACK_HOLE_LOSSES && isLong) {
            path.blackHole(nowNs);
            largeLost = 0;
        }
    }

    // ---- timers

    private long timeoutNs() {
        long longestNs = Math.max(1_000_000, Math.min(LONGEST_TIMEOUT_NS, settings.peerTimeoutNs() / 8));
        long onceNs = rtt.probeTimeoutNs(settings.ackDelayNs());
        return Math.min(longestNs, onceNs << Math.min(timeouts, 20));
    }

    long deadlineNs() {
        return Endpoint.earlier(lossOrTimeoutNs(), isPaced ? pacer.deadlineNs() : NONE);
    }

    private long lossOrTimeoutNs() {
        if (sent.inFlightCount() == 0) {
            return NONE;
        }
        return lossTimeNs != NONE ? lossTimeNs : lastAskedNs + timeoutNs();
    }

    /** Handles a deadline that has come. */
    void onTime(long nowNs) {
        pacer.refill(nowNs, window.pacingRate(rtt), window.bytes());
        isPaced = false;
        if (sent.inFlightCount() == 0 || lossOrTimeoutNs() - nowNs > 0) {
            return;
        }
        if (lossTimeNs != NONE) {
            detectLosses(nowNs);
            if (sent.inFlightCount() == 0 || lossOrTimeoutNs() - nowNs > 0) {
                return;
            }
        }
        timeouts++;
        probesDue = timeouts == 1 ? PROBES : 1;
        if (timeouts == COLLAPSE_TIMEOUTS) {
            window.collapse(path.bytes());
        }
        lastAskedNs = nowNs; // if nothing can be sent, the next time-out counts from now
        if (timeouts == 1) {
            repeatOldest();
        } // else only a PING: the peer may be busy, and its system keeps only so much; an answer shows what was lost
    }

    /** Sends the content of the oldest datagrams under way again; they may still be acknowledged. */
    private void repeatOldest() {
        int repeated = 0;
        for (long number = sent.oldest(); number < sent.next() && repeated < PROBES; number++) {
            if (sent.isInFlight(number)) {
                fate.lost(number);
                repeated++;
            }
        }
    }

    /** How many time-outs there were since something was acknowledged. */
    int timeoutCount() {
        return timeouts;
    }

    /** Describes the state, for tests. */
    String describe(long nowNs) {
        return sent.inFlightCount() + " in flight, loss in " + (lossTimeNs - nowNs) + " ns, " + timeouts
                + " time-outs of " + timeoutNs() + " ns, asked " + (nowNs - lastAskedNs) + " ns ago, " + probesDue
                + " probes due, reorder " + reorder + ", records " + (sent.next() - sent.oldest());
    }

    boolean isWaiting() {
        return sent.inFlightCount() > 0;
    }

    /** Forgets what is under way: it does not matter any more. */
    void abandon() {
        for (long number = sent.oldest(); number < sent.next(); number++) {
            sent.acknowledged(number);
        }
        lossTimeNs = NONE;
        probesDue = 0;
        isPaced = false;
    }
}
