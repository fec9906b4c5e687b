package io.madeleine.tm.bip.protocol;

/**
 * Finds the largest datagram that the path carries, as packetization-layer path MTU discovery does (RFC 8899): begins
 * with a size that every path carries, and probes larger ones with datagrams that carry no data. A lost probe is no
 * sign of congestion. If full datagrams stop arriving, the size falls back to the safe one.
 *
 * <p>Threading: confined.
 */
final class PathProbe {
    /** The sizes that are probed, in bytes of UDP payload: Ethernet, jumbo frames, and the loopback device's. */
    private static final int[] SIZES = {1_432, 8_932, 16_384, 32_768, 65_464};

    /** A size counts as too large for now after this many lost probes in a row. */
    static final int TRIES = 3;

    /** After a fallback, sizes are probed again after this time. */
    static final long PAUSE_NS = 60_000_000_000L;

    /** The same after lost probes, at first: a full queue may have dropped them. It doubles each time. */
    static final long FIRST_PAUSE_NS = 1_000_000_000L;

    /**
     * The size falls back to the safe one after this many losses of larger datagrams, if they span a probe time-out and
     * none was acknowledged in between.
     */
    static final int BLACK_HOLE_LOSSES = 8;

    private final int mostBytes;
    private int bytes;
    private int step;
    private int failures;
    private boolean underWay;
    private boolean paused;
    private boolean held;
    private long resumeNs;
    private long pauseNs = FIRST_PAUSE_NS;

    PathProbe(int mostBytes) {
        this.mostBytes = mostBytes;
        this.bytes = Math.min(DatagramLayout.SAFE_DATAGRAM_BYTES, mostBytes);
    }

    /** The largest datagram to send. */
    int bytes() {
        return bytes;
    }

    /** The size of the next probe, or 0 if none is to be sent now. */
    int wanted(long nowNs) {
        if (paused && nowNs - resumeNs >= 0) {
            paused = false;
        }
        if (held || underWay || paused || step == SIZES.length || bytes >= mostBytes) {
            return 0;
        }
        return Math.min(SIZES[step], mostBytes);
    }

    /** Whether no probe is to be sent for now. */
    void hold(boolean hold) {
        held = hold;
    }

    void sent() {
        underWay = true;
    }

    void acknowledged(int probeBytes) {
        underWay = false;
        failures = 0;
        bytes = Math.max(bytes, probeBytes);
        step++;
    }

    void lost(long nowNs) {
        underWay = false;
        if (++failures >= TRIES) {
            failures = 0;
            pause(nowNs, pauseNs);
            pauseNs = Math.min(2 * pauseNs, PAUSE_NS);
        }
    }

    private void pause(long nowNs, long forNs) {
        paused = true;
        resumeNs = nowNs + forNs;
    }

    /** The system refused to send so large a datagram. */
    void refused() {
        underWay = false;
        step = SIZES.length;
    }

    /** No datagram above the safe size arrives any more: the path has changed. */
    void blackHole(long nowNs) {
        if (bytes > DatagramLayout.SAFE_DATAGRAM_BYTES) {
            bytes = DatagramLayout.SAFE_DATAGRAM_BYTES;
            step = 0;
            failures = 0;
            pause(nowNs, PAUSE_NS);
        }
    }
}
