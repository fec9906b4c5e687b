package io.madeleine.nexus;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Counts refused requests of one peer until it is notified: one notice covers many requests, so that a flood of
 * requests does not cause a flood of refusals.
 *
 * <p>Threading: thread-safe.
 */
final class Refusals {
    /** The largest number of kinds counted separately; further kinds count as the first. */
    private static final int MAX_KINDS = 64;

    /** Endpoint, handler and reason. */
    record Kind(int endpoint, int handler, Refusal.Reason reason) {}

    private final Map<Kind, Long> counts = new LinkedHashMap<>();
    private volatile boolean any;

    /** Whether there are refusals to report. */
    boolean any() {
        return any;
    }

    /** Counts a refusal. */
    synchronized void add(Kind kind) {
        any = true;
        if (counts.size() < MAX_KINDS || counts.containsKey(kind)) {
            counts.merge(kind, 1L, Long::sum);
        } else {
            counts.merge(counts.keySet().iterator().next(), 1L, Long::sum);
        }
    }

    /** Returns all counts and resets them. */
    synchronized Map<Kind, Long> take() {
        Map<Kind, Long> taken = new LinkedHashMap<>(counts);
        counts.clear();
        any = false;
        return taken;
    }
}
