package io.madeleine.pmm.handshake;

import java.util.concurrent.TimeUnit;

/**
 * Limits of handshakes.
 *
 * @param timeoutNs how long one may take
 * @param maxUnauthenticatedCount how many unauthenticated connections there may be
 * @param maxWaitNs how long an authenticated peer waits to be wanted
 * @param keys the path of the keys {@code timeout} and {@code max-unauthenticated} that change them, or empty
 */
public record HandshakeLimits(long timeoutNs, int maxUnauthenticatedCount, long maxWaitNs, String keys) {
    /** Of a network that has no keys for them. */
    public static final HandshakeLimits DEFAULT =
            new HandshakeLimits(TimeUnit.SECONDS.toNanos(10), 1_024, TimeUnit.SECONDS.toNanos(60), "");

    /** Which key changes a limit, in brackets. */
    String key(String name) {
        return keys.isEmpty() ? "" : " (" + keys + "." + name + ")";
    }
}
