package io.madeleine.session;

/**
 * The bounds of a session's waits.
 *
 * <p>Threading: immutable.
 *
 * @param openNs until all processes are connected
 * @param closeNs until what was promised is sent
 * @param abortNs of a process that is ended by an abort, for its shutdown hooks
 * @param peerNs without a sign of a process on another host
 */
record Timeouts(long openNs, long closeNs, long abortNs, long peerNs) {
    /** What bounds the opening, key and value, for errors. */
    String openBound() {
        return "madeleine.session.open-timeout = " + ConfigReader.duration(openNs);
    }
}
