package io.madeleine.nexus;

import java.util.Optional;

/**
 * Decides who may attach to a context.
 *
 * <p>Threading: called by several threads at once, if several attach at once.
 */
@FunctionalInterface
public interface Approver {
    /**
     * Called for each context that wants to attach, after it has proved to know the session's secret; from a virtual
     * thread, for no longer than {@link ContextOptions#connectTimeout}. What it throws is a refusal.
     *
     * @return the startpoint that the other gets, to begin with; empty: it is refused
     */
    Optional<Startpoint> approve(AttachRequest request) throws Exception;
}
