package io.madeleine.pmm;

/**
 * How the engine waits.
 *
 * @param mode the mode
 * @param spinNs in adaptive mode, how long to poll without an event before yielding; well above the cost of a wake-up.
 *     0 where processes outnumber cores, because spinning then only delays the peer
 * @param yieldRounds in adaptive mode, how often to yield before sleeping
 * @param inHandlersNs after how long a wait in a handler fails, unless it is for the handler's own message
 * @param oneProcessor whether all threads of the process share one processor; the session's own thread then yields it
 *     after each poll
 * @param crowded whether the processes of the session on this host outnumber its processors
 */
public record WaitPolicy(
        WaitMode mode, long spinNs, int yieldRounds, long inHandlersNs, boolean oneProcessor, boolean crowded) {
    private static final long DEFAULT_IN_HANDLERS_NS = 5_000_000_000L;

    /** Checks the bounds. */
    public WaitPolicy {
        if (spinNs < 0 || yieldRounds < 0 || inHandlersNs < 0) {
            throw new IllegalArgumentException("expected spinNs, yieldRounds and inHandlersNs of 0 or more, found "
                    + spinNs + ", " + yieldRounds + " and " + inHandlersNs);
        }
    }

    /** A policy for more than one processor, with the default bound of 5 s for waits in handlers. */
    public WaitPolicy(WaitMode mode, long spinNs, int yieldRounds) {
        this(mode, spinNs, yieldRounds, DEFAULT_IN_HANDLERS_NS);
    }

    /** A policy for more than one processor. */
    public WaitPolicy(WaitMode mode, long spinNs, int yieldRounds, long inHandlersNs) {
        this(mode, spinNs, yieldRounds, inHandlersNs, false, false);
    }

    /** How long to poll without an event, in nanoseconds, before only yielding and sleeping; not for block mode. */
    long patienceNs(WaitHint hint) {
        return switch (hint) {
            case CPU -> 0;
            case THROUGHPUT, AUTO -> spinNs;
            case LATENCY -> spinNs * WaitHint.LATENCY_FACTOR;
        };
    }
}
