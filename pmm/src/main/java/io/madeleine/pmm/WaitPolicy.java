package io.madeleine.pmm;

/**
 * How the engine waits.
 *
 * @param mode the kind of waiting
 * @param spinNs in adaptive mode, how long to poll without news before yielding; well above the price of a wake-up, and 0
 *     where processes outnumber cores, since spinning then only delays the peer
 * @param yieldRounds in adaptive mode, how many times to yield before sleeping
 */
public record WaitPolicy(WaitMode mode, long spinNs, int yieldRounds) {
    /** Checks the bounds. */
    public WaitPolicy {
        if (spinNs < 0 || yieldRounds < 0) {
            throw new IllegalArgumentException(
                    "expected spinNs and yieldRounds of 0 or more, found " + spinNs + " and " + yieldRounds);
        }
    }

    /** For how long to go on polling without news, in nanoseconds, before yielding for the last time; not for block. */
    long patienceNs(WaitHint hint) {
        return switch (hint) {
            case CPU -> 0;
            case THROUGHPUT, AUTO -> spinNs;
            case LATENCY -> spinNs * WaitHint.LATENCY_FACTOR;
        };
    }
}
