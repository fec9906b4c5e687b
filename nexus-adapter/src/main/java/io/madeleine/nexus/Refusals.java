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
    /** The largest number of kinds counted separately; further kinds are counted together, by their reason. */
    private static final int MAX_KINDS = 64;

    /** Endpoint, handler and reason. */
    record Kind(int endpoint, int handler, Refusal.Reason reason) {
        /** Stands for kinds that are counted together. */
        static Kind others(Refusal.Reason reason) {
            return new Kind(Refusal.SEVERAL, Refusal.SEVERAL, reason);
        }
    }

    private final Map<Kind, Long> counts = new LinkedHashMap<>();
    private volatile boolean any;

    /** Whether there are refusals to report. */
    boolean any() {
        return any;
    }

    /** Counts a refusal. */
    synchronized void add(Kind kind) {
        any = true;
        boolean isSeparate = counts.size() < MAX_KINDS || counts.containsKey(kind);
        counts.merge(isSeparate ? kind : Kind.others(kind.reason()), 1L, Long::sum);
    }

    /** Returns all counts and resets them. */
    synchronized Map<Kind, Long> take() {
        Map<Kind, Long> taken = new LinkedHashMap<>(counts);
        counts.clear();
        any = false;
        return taken;
    }
}
