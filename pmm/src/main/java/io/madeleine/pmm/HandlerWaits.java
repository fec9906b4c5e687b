package io.madeleine.pmm;

import java.util.concurrent.TimeUnit;

/**
 * How a handler waits. It calls no other handler meanwhile, and does not keep the lead from those who may: after a moment it
 * lets that go for good, and whoever called the handler as leader leads no more when it returns. A wait for the handler's own
 * message takes as long as that takes; any other may be in vain, as the handlers of its channel stand still, and is bounded.
 * An interrupt ends none of them: it is meant for what the thread did itself when it came to call the handler.
 *
 * <p>Threading: the thread that runs the handler.
 */
final class HandlerWaits {
    /** What most messages need that are on their way; to hand the lead over takes as long. */
    private static final long MOMENT_NS = 100_000;

    /**
     * For how long the session's own thread, where nobody else leads, drives everything itself, but for handlers. Then another
     * one leads, and calls those of other channels: what the handler waits for may depend on them.
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

    /** Waits as {@link ProgressEngine#await} does. */
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
            throw new IllegalStateException("a handler of " + handling.name() + " has waited in vain for "
                    + TimeUnit.NANOSECONDS.toMillis(boundNs)
                    + " ms (madeleine.wait.in-handlers): a handler must not wait for"
                    + " anything but the message that it was given, no other handler of the channel is called meanwhile; "
                    + on.inHandlers);
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
            handling.letGo();
            leading.letGo();
            engine.passLeadOn();
        } else if (!self.isVirtual() && !handling.hasLetGo()) { // it has been called by a thread that does not lead
            WaitOutcome outcome = leadForAMoment(self, on, condition, startNs + MOMENT_NS, untilNs);
            if (outcome == WaitOutcome.MET || condition.isMet()) {
                return true;
            }
        }
        engine.raiseDemand();
        try {
            return follow(self, on, condition, startNs, untilNs);
        } finally {
            engine.lowerDemand();
        }
    }

    /** Leads until the condition is met or the moment is over, if the lead can be had. */
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
                lead.holder = Lead.NOBODY; // without a call: the stack may have come to its end
            }
            engine.passLeadOn();
        }
    }

    private boolean follow(Thread self, Waitable on, Condition condition, long startNs, long untilNs) {
        while (true) {
            boolean mayLead = engine.ownThreads().isOnDuty(self); // else the thread that is leads if nobody else does
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
                default -> Thread.onSpinWait(); // the lead is free
            }
        }
    }

    /**
     * Leads until the condition is met, a thread waits that could lead, or the time has come; then another is on duty, unless the
     * wait is over.
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
                lead.holder = Lead.NOBODY; // without a call: the stack may have come to its end
            }
            if (outcome == WaitOutcome.EXPIRED && !isShort) {
                engine.ownThreads().relieve();
            }
            engine.passLeadOn();
        }
    }
}
