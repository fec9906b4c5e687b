package io.madeleine.pmm.handshake;

import java.util.concurrent.TimeUnit;

/**
 * The limits of handshakes.
 *
 * @param timeoutNs how long a handshake may take
 * @param maxUnauthenticatedCount how many unauthenticated connections there may be
 * @param maxWaitNs how long an authenticated peer waits for this process's request
 * @param keys the configuration path of the keys {@code timeout} and {@code max-unauthenticated}; empty if there are
 *     none
 */
public record HandshakeLimits(long timeoutNs, int maxUnauthenticatedCount, long maxWaitNs, String keys) {
    /** The limits of a network that has no keys for them. */
    public static final HandshakeLimits DEFAULT =
            new HandshakeLimits(TimeUnit.SECONDS.toNanos(10), 1_024, TimeUnit.SECONDS.toNanos(60), "");

    /** The key that sets a limit, in brackets, for error texts. */
    String key(String name) {
        return keys.isEmpty() ? "" : " (" + keys + "." + name + ")";
    }
}
