package io.madeleine.tm.bip.protocol;

/**
 * How long an end that is closed waits for its peer, so that what was sent before the close arrives.
 *
 * <p>Threading: confined.
 */
final class Linger {
    /** How many time-outs an end answers a peer that has closed, too. */
    static final int LAST_WORDS = 3;

    private final EndpointSettings settings;
    private boolean isPromised;
    private long sinceNs = Endpoint.NONE;
    private long latestNs = Endpoint.NONE;
    private long lastWordsUntilNs = Endpoint.NONE;

    Linger(EndpointSettings settings) {
        this.settings = settings;
    }

    /**
     * The end is closed.
     *
     * @param promised whether the user counts on what was sent
     */
    void begin(long nowNs, boolean promised) {
        isPromised = promised;
        sinceNs = nowNs;
        latestNs = nowNs + (promised ? settings.longestLingerNs() : settings.shortLingerNs());
    }

    /** The peer has given a sign of life; before {@link #begin} it does not matter. */
    void heard(long nowNs) {
        if (sinceNs != Endpoint.NONE) {
            sinceNs = nowNs;
        }
    }

    /** The peer has closed, too. It may repeat what it has not seen acknowledged. */
    void peerHasClosed(long nowNs, long timeoutNs) {
        if (lastWordsUntilNs == Endpoint.NONE) {
            lastWordsUntilNs = nowNs + Math.min(LAST_WORDS * timeoutNs, settings.shortLingerNs());
        }
    }

    /** The end has left. */
    void end() {
        sinceNs = Endpoint.NONE;
    }

    /** Whether the user counts on what was sent. */
    boolean isPromised() {
        return isPromised;
    }

    /**
     * When the wait is over; {@link Endpoint#NONE} if there is none.
     *
     * @param lacksBytes whether the peer has not acknowledged all bytes
     */
    long untilNs(boolean lacksBytes) {
        if (sinceNs == Endpoint.NONE) {
            return Endpoint.NONE;
        }
        long silenceNs = isPromised && lacksBytes ? settings.lingerNs() : settings.shortLingerNs();
        return Endpoint.earlier(Endpoint.earlier(sinceNs + silenceNs, latestNs), lastWordsUntilNs);
    }
}
