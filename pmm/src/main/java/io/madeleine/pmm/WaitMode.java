package io.madeleine.pmm;

/** How a waiting thread spends its time. */
public enum WaitMode {
    /** Polls without pause: lowest latency, a whole core. */
    SPIN,
    /** Polls for a while if a core can be spared, then yields, then sleeps in the reactor. The default. */
    ADAPTIVE,
    /** Looks once, then sleeps in the reactor. */
    BLOCK
}
