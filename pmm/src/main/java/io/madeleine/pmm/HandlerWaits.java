package io.madeleine.pmm;

import java.util.concurrent.TimeUnit;

/**
 * The waits of handlers. A waiting handler calls no other handler, and keeps the lead only for a moment: then it
 * releases the lead for good, and the thread that called the handler as leader no longer leads when the handler
 * returns. A handler may wait for its own message without a bound. Every other wait is bounded, because it may be in
 * vain: the other handlers of its channel cannot run. An interrupt does not end a wait, because it is meant for the
 * thread's own work, not for the handler that it happens to run.
 *
 * <p>Threading: the thread that runs the handler.
 */
final class HandlerWaits {
    /** Long enough for most messages that are on their way; passing the lead on takes as long. */
    private static final long MOMENT_NS = 100_000;

    /**
     * How long the session's own thread, if no other thread leads, polls during a handler's wait without calling other
     * handlers. After that another thread leads and calls the handlers of other channels, on which the wait may depend.
     */
    private static final long ON_DUTY_NS = 2_000_000;

    private final ProgressEngine engine;
    private final Lead lead;
    private final Leading leading;
    private final Following following;
    private final long boundNs;

    HandlerWaits(ProgressEngine engine, Lead lead, Leading leading, Following following, long boundNs) {
        this.engine = engine;
        this.lead = lead;
        this.leading = leading;
        this.following = following;
        this.boundNs = boundNs;
    }

    /** Waits like {@link ProgressEngine#await}. */
    boolean await(Dispatcher handling, Waitable on, Condition condition, long deadlineNs) {
        long startNs = System.nanoTime();
        boolean bounded =
                !handling.isOwn(on) && (deadlineNs == ProgressEngine.NO_DEADLINE || deadlineNs - startNs > boundNs);
        long untilNs = bounded ? startNs + boundNs : deadlineNs;
        boolean met;
        try {
            met = await(handling, on, condition, startNs, untilNs);
        } finally {
            handling.giveInterruptBack();
        }
        if (met) {
            return true;
        }
        if (bounded) {
            throw new IllegalStateException("a handler of " + handling.name() + " waited for "
                    + TimeUnit.NANOSECONDS.toMillis(boundNs)
                    + " ms without success (limit: madeleine.wait.in-handlers): a handler may wait only for the message"
                    + " that it was given, because the channel calls no other handler meanwhile; " + on.inHandlers);
        }
        return false;
    }

    private boolean await(Dispatcher handling, Waitable on, Condition condition, long startNs, long untilNs) {
        Thread self = Thread.currentThread();
        if (lead.isHeldBy(self)) {
            long momentNs = startNs + MOMENT_NS;
            boolean isShort = untilNs != ProgressEngine.NO_DEADLINE && untilNs - momentNs <= 0;
            WaitOutcome outcome = leading.lead(true, on, condition, isShort ? untilNs : momentNs);
            if (outcome == WaitOutcome.MET || isShort) {
                return outcome == WaitOutcome.MET;
            }
            handling.releaseFromHandler();
            leading.releaseFromHandler();
            engine.passLeadOn();
        } else if (!self.isVirtual() && !handling.hasReleasedLead()) { // the caller called the handler without leading
            WaitOutcome outcome = leadForAMoment(self, on, condition, startNs + MOMENT_NS, untilNs);
            if (outcome == WaitOutcome.MET || condition.isMet()) {
                return true;
            }
        }
        engine.raiseDemandAtOnce();
        try {
            return follow(self, on, condition, startNs, untilNs);
        } finally {
            engine.lowerDemand();
        }
    }

    /** Leads until the condition holds or the moment is over, if the lead can be taken. */
    private WaitOutcome leadForAMoment(Thread self, Waitable on, Condition condition, long momentNs, long untilNs) {
        if (!lead.isOpen() || !engine.tryLead(self)) {
            return WaitOutcome.LEAD_IS_GONE;
        }
        boolean isShort = untilNs != ProgressEngine.NO_DEADLINE && untilNs - momentNs <= 0;
        long selfId = self.threadId();
        try {
            return leading.lead(true, on, condition, isShort ? untilNs : momentNs);
        } finally {
            if (lead.holder == selfId) {
                lead.holder = Lead.NOBODY; // no call here: the stack may be exhausted
            }
            engine.passLeadOn();
        }
    }

    private boolean follow(Thread self, Waitable on, Condition condition, long startNs, long untilNs) {
        while (true) {
            boolean mayLead =
                    engine.progressThreads().isOnDuty(self); // otherwise the thread on duty leads if no other does
            if (mayLead && lead.isOpen()) {
                boolean isShort = untilNs != ProgressEngine.NO_DEADLINE && untilNs - (startNs + ON_DUTY_NS) <= 0;
                WaitOutcome outcome =
                        leadOnDuty(self, on, condition, isShort ? untilNs : startNs + ON_DUTY_NS, isShort);
                if (condition.isMet()) {
                    return true;
                }
                if (outcome == WaitOutcome.EXPIRED && isShort) {
                    return false;
                }
                continue;
            }
            switch (following.follow(on, condition, untilNs, mayLead)) {
                case MET -> {
                    return true;
                }
                case EXPIRED -> {
                    return false;
                }
                default -> Thread.onSpinWait(); // the lead is free: try to take it
            }
        }
    }

    /**
     * Leads until the condition holds, a thread waits that could lead, or the time is over. If the time is over before
     * the deadline of the wait, it puts another thread on duty.
     */
    private WaitOutcome leadOnDuty(Thread self, Waitable on, Condition condition, long untilNs, boolean isShort) {
        Condition metOrRelieved = () -> condition.isMet() || engine.hasLeadSeekers();
        long selfId = self.threadId();
        if (!engine.tryLead(self)) {
            return WaitOutcome.LEAD_IS_GONE;
        }
        WaitOutcome outcome = WaitOutcome.MET;
        try {
            outcome = leading.lead(true, on, metOrRelieved, untilNs);
            return outcome;
        } finally {
            if (lead.holder == selfId) {
                lead.holder = Lead.NOBODY; // no call here: the stack may be exhausted
            }
            if (outcome == WaitOutcome.EXPIRED && !isShort) {
                engine.progressThreads().relieve();
            }
            engine.passLeadOn();
        }
    }
}
