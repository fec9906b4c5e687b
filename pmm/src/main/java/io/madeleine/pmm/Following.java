package io.madeleine.pmm;

import java.util.concurrent.locks.LockSupport;

/**
 * What a thread does that waits while another one leads: it is parked until it is told of a change, or could lead itself.
 *
 * <p>Threading: thread-safe.
 */
final class Following {
    private final ProgressEngine engine;
    private final Lead lead;
    private final WaitList waitList;
    private final Leading leading;

    /** How a wait as a follower ends. */
    enum Outcome {
        /** The condition is met. */
        MET,

        /** The deadline has come. */
        EXPIRED,

        /** Nobody leads, and the thread could. */
        LEAD_IS_FREE
    }

    Following(ProgressEngine engine, Lead lead, WaitList waitList, Leading leading) {
        this.engine = engine;
        this.lead = lead;
        this.waitList = waitList;
        this.leading = leading;
    }

    /** Parks until the condition is met, the deadline has come or the lead can be taken. */
    Outcome follow(Waitable on, Condition condition, long deadlineNs, boolean mayLead) {
        Waiter self = Waiter.follower(Thread.currentThread(), mayLead);
        waitList.register(on, self);
        waitList.enlist(on, self);
        if (on.hint == WaitHint.LATENCY) {
            leading.hurry();
        }
        if (mayLead) {
            engine.relieveProgressThread();
        }
        boolean met = false;
        try {
            while (!looksAndFinds(self, condition)) {
                engine.checkWait(deadlineNs);
                if (mayLead && !lead.isHeld()) {
                    return Outcome.LEAD_IS_FREE;
                }
                if (self.chosen) {
                    waitList.registerAgain(on, self);
                } else if (self.signalled) {
                    continue; // not left to the park: the permit may have ended a pause in a spin lock
                } else if (deadlineNs == ProgressEngine.NO_DEADLINE) {
                    LockSupport.park(this);
                } else {
                    long leftNs = deadlineNs - System.nanoTime();
                    if (leftNs <= 0) {
                        return Outcome.EXPIRED;
                    }
                    LockSupport.parkNanos(this, leftNs);
                }
            }
            met = true;
            return Outcome.MET;
        } finally {
            waitList.delist(on, self);
            boolean wasChosen = waitList.unregister(on, self);
            if (wasChosen && !met) {
                engine.signalOne(on); // the change is for another
            }
            if (!lead.isHeld()) {
                engine.passLeadOn(); // the offer may have come to this thread as it left
            }
        }
    }

    /** What is signalled from now on calls for one more look. */
    private static boolean looksAndFinds(Waiter self, Condition condition) {
        self.signalled = false;
        return condition.isMet();
    }
}
