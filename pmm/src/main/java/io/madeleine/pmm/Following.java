package io.madeleine.pmm;

import java.util.concurrent.locks.LockSupport;

/**
 * What a thread does that waits while another one leads: it is parked until it is told of a change, or could lead itself.
 *
 * <p>Threading: thread-safe.
 */
final class Following {
    /** Who could lead looks so often whether the lead is free: the stack of who has let it go may have ended before it said so. */
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

    /** Parks until the condition is met, the deadline has come or the lead can be taken. */
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
                if (self.chosen) { // by flags: the permit alone may have ended a pause in a spin lock
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
                engine.signalOne(on); // the change is for another
            }
            if (!lead.isHeld()) {
                engine.passLeadOn(); // the offer may have come to this thread as it left
            }
        }
    }

    /** Parks until told or, perhaps, for no reason; false if the deadline has come. */
    private boolean park(long deadlineNs, boolean mayLead) {
        long longestNs = mayLead ? LONGEST_PARK_NS : Long.MAX_VALUE;
        if (deadlineNs == ProgressEngine.NO_DEADLINE) {
            if (mayLead) {
                LockSupport.parkNanos(this, longestNs);
            } else {
                LockSupport.park(this); // a virtual thread whose time the JDK lacks memory to keep would never wake up
            }
            return true;
        }
        long leftNs = deadlineNs - System.nanoTime();
        if (leftNs > 0) {
            LockSupport.parkNanos(this, Math.min(leftNs, longestNs));
        }
        return leftNs > 0;
    }

    /** What is signalled from now on calls for one more look. */
    private static boolean looksAndFinds(Waiter self, Condition condition) {
        self.signalled = false;
        return condition.isMet();
    }
}
