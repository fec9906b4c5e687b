package io.madeleine.pmm;

import org.jspecify.annotations.Nullable;

/**
 * What matters most to the threads that wait on a channel (Madeleine II, introduction: methods are selected by "data
 * size or responsiveness user requirements"). It takes effect in {@linkplain WaitMode#ADAPTIVE adaptive} mode; the
 * other modes fix how a thread waits. The constants are ordered from the most patient to the most impatient: if several
 * threads wait, the most impatient hint applies.
 */
public enum WaitHint {
    /** Processor time: sleeps in the reactor at once. */
    CPU,
    /** Total throughput: yields the processor after each poll, then sleeps. */
    THROUGHPUT,
    /** As {@link WaitPolicy} says. The default. */
    AUTO,
    /** Latency: spins {@value #LATENCY_FACTOR} times as long before it yields and sleeps. */
    LATENCY;

    static final int LATENCY_FACTOR = 10;

    /** Whether a thread may poll without pauses on behalf of a waiter with this hint, or with none. */
    static boolean isImpatient(@Nullable WaitHint hint) {
        return hint == null || hint == AUTO || hint == LATENCY;
    }
}
