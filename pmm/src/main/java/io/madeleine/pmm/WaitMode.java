package io.madeleine.pmm;

/** How a waiting thread spends its time. */
public enum WaitMode {
    /** Polls without pauses: the lowest latency, for a whole core. */
    SPIN,
    /** Polls for a while if a core can be spared, then yields, then sleeps in the reactor. The default. */
    ADAPTIVE,
    /** Polls once, then sleeps in the reactor. */
    BLOCK
}
