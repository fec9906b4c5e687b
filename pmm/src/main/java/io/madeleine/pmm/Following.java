package io.madeleine.pmm;

import java.util.concurrent.locks.LockSupport;

/**
 * Waits while another thread leads: the thread parks until it is told of a change or could lead itself.
 *
 * <p>Threading: thread-safe.
 */
final class Following {
    /**
     * A thread that could lead checks this often whether the lead is free: the last leader's stack may have overflowed
     * before it could tell.
     */
    private static final long LONGEST_PARK_NS = 1_000_000_000;

    private final ProgressEngine engine;
    private final Lead lead;
    private final WaitList waitList;
    private final Sleeping sleeping;

    Following(ProgressEngine engine, Lead lead, WaitList waitList, Sleeping sleeping) {
        this.engine = engine;
        this.lead = lead;
        this.waitList = waitList;
        this.sleeping = sleeping;
    }

    /** Parks until the condition holds, the deadline has come or the lead can be taken. */
    WaitOutcome follow(Waitable on, Condition condition, long deadlineNs, boolean mayLead) {
        Waiter self = waitList.enlist(on, Thread.currentThread(), mayLead);
        if (on.hint == WaitHint.LATENCY) {
            sleeping.hurry();
        }
        if (mayLead) {
            engine.relieveProgressThread();
        }
        boolean met = false;
        try {
            while (!looksAndFinds(self, condition)) {
                engine.checkWait(deadlineNs);
                if (mayLead && lead.isOpen()) {
                    return WaitOutcome.LEAD_IS_FREE;
                }
                if (self.chosen) { // checks flags, not the permit: a pause in a spin lock may have consumed that
                    waitList.enlistAgain(on, self);
                } else if (!self.signalled && !park(deadlineNs, mayLead)) {
                    return WaitOutcome.EXPIRED;
                }
            }
            met = true;
            return WaitOutcome.MET;
        } finally {
            boolean wasChosen = waitList.delist(on, self);
            if (wasChosen && !met) {
                engine.signalOne(on); // another waiter can use the change
            }
            if (!lead.isHeld()) {
                engine.passLeadOn(); // this thread may have received the offer while it was leaving
            }
        }
    }

    /** Parks until told, or spuriously; returns false if the deadline has come. */
    private boolean park(long deadlineNs, boolean mayLead) {
        long longestNs = mayLead ? LONGEST_PARK_NS : Long.MAX_VALUE;
        if (deadlineNs == ProgressEngine.NO_DEADLINE) {
            if (mayLead) {
                LockSupport.parkNanos(this, longestNs);
            } else {
                // a timed park of a virtual thread never ends if the JDK lacks memory for its timer
                LockSupport.park(this);
            }
            return true;
        }
        long leftNs = deadlineNs - System.nanoTime();
        if (leftNs > 0) {
            LockSupport.parkNanos(this, Math.min(leftNs, longestNs));
        }
        return leftNs > 0;
    }

    /** Clears {@code signalled} before the check, so that a later signal causes another check. */
    private static boolean looksAndFinds(Waiter self, Condition condition) {
        self.signalled = false;
        return condition.isMet();
    }
}
