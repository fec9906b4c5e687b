package io.madeleine.session.config;

/**
 * The time limits of a session, in nanoseconds.
 *
 * <p>Threading: immutable.
 *
 * @param openNs for opening, until all processes are connected
 * @param closeNs for closing, until accepted messages have been sent
 * @param abortNs for the shutdown hooks of a process that an abort ends
 * @param peerNs the silence after which a process on another host counts as dead
 */
public record Timeouts(long openNs, long closeNs, long abortNs, long peerNs) {
    /** The limit for opening, as key and value, for error messages. */
    public String openBound() {
        return "madeleine.session.open-timeout = " + ConfigReader.duration(openNs);
    }
}
