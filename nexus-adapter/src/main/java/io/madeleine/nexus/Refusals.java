package io.madeleine.nexus;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Requests of one peer that were refused, until the peer has been told: counted, one notice for many, so that a flood of
 * requests is not answered by a flood of refusals.
 *
 * <p>Threading: thread-safe.
 */
final class Refusals {
    /** Kinds of refusals that are told apart; the rest counts for the last. */
    private static final int MAX_KINDS = 64;

    /** Endpoint, handler and reason. */
    record Kind(int endpoint, int handler, Refusal.Reason reason) {}

    private final Map<Kind, Long> counts = new LinkedHashMap<>();
    private volatile boolean any;

    /** Whether there is something to tell. */
    boolean any() {
        return any;
    }

    /** Counts one. */
    synchronized void add(Kind kind) {
        any = true;
        if (counts.size() < MAX_KINDS || counts.containsKey(kind)) {
            counts.merge(kind, 1L, Long::sum);
        } else {
            counts.merge(counts.keySet().iterator().next(), 1L, Long::sum);
        }
    }

    /** All that have been counted; from now on anew. */
    synchronized Map<Kind, Long> take() {
        Map<Kind, Long> taken = new LinkedHashMap<>(counts);
        counts.clear();
        any = false;
        return taken;
    }
}
