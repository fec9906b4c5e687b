package io.madeleine.pmm;

/** How a time as leader, or as follower, ends. */
enum WaitOutcome {
    /** The condition is met. */
    MET,

    /** The deadline has come. */
    EXPIRED,

    /** A follower: nobody leads, and the thread could. */
    LEAD_IS_FREE,

    /** A leader: it has mostly virtual threads to wake, and a virtual one does that better ({@link VirtualLeader}). */
    LEFT_TO_VIRTUAL,

    /** A leader: a handler that it called had to wait, and has let the lead go. */
    LEAD_IS_GONE
}
