package io.madeleine.pmm;

import org.jspecify.annotations.Nullable;

/**
 * What counts most for those who wait on a channel: the responsiveness that a user asks for (Madeleine II, introduction:
 * methods are selected by "data size or responsiveness user requirements"). It counts in {@linkplain WaitMode#ADAPTIVE adaptive} mode; the other modes
 * say themselves what a thread does. From the most patient to the most impatient: where several wait, the last one of
 * theirs counts.
 */
public enum WaitHint {
    /** Time of the processor: sleeps in the reactor at once. */
    CPU,
    /** Work done by all together: never keeps a processor from others, but yields it after each look, then sleeps. */
    THROUGHPUT,
    /** As {@link WaitPolicy} says. The default. */
    AUTO,
    /** Time until the message is there: spins {@value #LATENCY_FACTOR} times as long before it yields and sleeps. */
    LATENCY;

    static final int LATENCY_FACTOR = 10;

    /** Whether a thread may poll without a pause for somebody with this hint, or none. */
    static boolean isImpatient(@Nullable WaitHint hint) {
        return hint == null || hint == AUTO || hint == LATENCY;
    }
}
