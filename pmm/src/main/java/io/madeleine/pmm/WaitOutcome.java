package io.madeleine.pmm;

/** How a period as leader or as follower ends. */
enum WaitOutcome {
    /** The condition holds. */
    MET,

    /** The deadline has come. */
    EXPIRED,

    /** For a follower: no thread leads, and this one could. */
    LEAD_IS_FREE,

    /** For a leader: it mainly wakes virtual threads, for which {@link VirtualLeader} should lead. */
    LEFT_TO_VIRTUAL,

    /** For a leader: a handler that it called had to wait and has released the lead. */
    LEAD_IS_GONE
}
