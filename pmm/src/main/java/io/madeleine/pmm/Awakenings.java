package io.madeleine.pmm;

/**
 * Counts the virtual threads that the leader makes runnable: those it wakes, and those it starts for handlers. They decide
 * who leads best.
 *
 * <p>Threading: {@link #note} by any thread; the rest is the leader's.
 */
final class Awakenings {
    private final Lead lead;
    private int count;

    Awakenings(Lead lead) {
        this.lead = lead;
    }

    /** The caller has made a virtual thread runnable. Only what the leader does counts. */
    void note() {
        if (lead.isHeldBy(Thread.currentThread())) {
            count++;
        }
    }

    /** Whether there has been one since this was asked last. */
    boolean take() {
        if (count == 0) {
            return false;
        }
        count = 0;
        return true;
    }
}
