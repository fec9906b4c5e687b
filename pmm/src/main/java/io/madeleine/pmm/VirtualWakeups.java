package io.madeleine.pmm;

/**
 * Records that the leader has made virtual threads runnable: those that it wakes, and those that it starts for
 * handlers. They decide which thread should lead.
 *
 * <p>Threading: any thread may call {@link #note}; the rest is confined to the leader.
 */
final class VirtualWakeups {
    private final Lead lead;
    private int count;

    VirtualWakeups(Lead lead) {
        this.lead = lead;
    }

    /** The caller has made a virtual thread runnable; counts only if the caller leads. */
    void note() {
        if (lead.isHeldBy(Thread.currentThread())) {
            count++;
        }
    }

    /** Whether there has been one since the last call. */
    boolean take() {
        if (count == 0) {
            return false;
        }
        count = 0;
        return true;
    }
}
