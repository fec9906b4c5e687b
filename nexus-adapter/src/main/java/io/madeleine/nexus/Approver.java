package io.madeleine.nexus;

import java.util.Optional;

/**
 * Decides which contexts may attach to this one.
 *
 * <p>Threading: several threads call it at once if several contexts attach at once.
 */
@FunctionalInterface
public interface Approver {
    /**
     * Decides on one context, which has proved that it knows the session's secret. Runs in a virtual thread, for at
     * most {@link ContextOptions#connectTimeout}. An exception is a refusal.
     *
     * @return the first startpoint that the other context gets; empty to refuse it
     */
    Optional<Startpoint> approve(AttachRequest request) throws Exception;
}
