package io.madeleine.pmm;

import io.madeleine.pmm.spi.Reactor;
import java.util.function.BooleanSupplier;

/**
 * How the leader sleeps in the reactor, and how the lead is given back to one who sleeps.
 *
 * <p>The session's own thread sleeps so that others may take the lead from it ({@link Lead}). Who takes it disarms the networks and
 * polls at once. Who leaves gives it back, if the networks can be armed again for next to nothing, and the sleeper has noticed
 * nothing; or else wakes the sleeper, as does who wants to sleep in the reactor itself.
 *
 * <p>No change is missed: whoever has the lead asleep has raised {@link #isAsleep} and armed, and has looked once more then; who changes
 * something does so first and looks then, and wakes whoever is in the reactor. Who takes the lead lowers the flag before its
 * first round, and who gives it back raises it before its last look. It is the same with deadlines: until the sleeper has said how long it
 * will sleep, each one that is named wakes it.
 *
 * <p>Threading: the leader's, but for {@link #isAsleep}, {@link #lastsPast} and {@link #hurry}.
 */
final class Sleeping {
    /** The session's own thread looks so often whether the lead is free: the stack of who took it may have ended before it said so. */
    private static final long LONGEST_ASIDE_NS = 1_000_000_000;

    private static final long FOREVER = Long.MAX_VALUE;

    private final ProgressEngine engine;
    private final Lead lead;
    private final Rounds rounds;
    private final WaitList waitList;
    private final Reactor reactor;
    private final Demands demands;
    private final Waiter sleeper = Waiter.leader();
    private final BooleanSupplier mayHandle;
    private volatile boolean asleep;
    private volatile boolean hurried;

    /** Until when who is in the reactor, whoever has the lead, sleeps at most. */
    private volatile long untilNs = FOREVER;

    private boolean wasTold;

    Sleeping(ProgressEngine engine, Lead lead, Rounds rounds, WaitList waitList, Reactor reactor, Demands demands) {
        this.engine = engine;
        this.lead = lead;
        this.rounds = rounds;
        this.waitList = waitList;
        this.reactor = reactor;
        this.demands = demands;
        this.mayHandle = () -> lead.regain(Thread.currentThread());
    }

    /** Whether the leader sleeps, or is about to and looks once more: who changes something has to wake it. */
    boolean isAsleep() {
        return asleep;
    }

    /** Whether the leader sleeps and would not look before that time. */
    boolean lastsPast(long timeNs) {
        return asleep && endsAfter(timeNs);
    }

    private boolean endsAfter(long timeNs) {
        long endNs = untilNs;
        return endNs == FOREVER || timeNs - endNs < 0;
    }

    /** Somebody impatient has begun to wait: the leader is to be as wide awake as if it had just begun itself. */
    void hurry() {
        hurried = true;
        if (asleep) {
            reactor.wakeUp();
        }
    }

    /** Whether somebody impatient has begun to wait, which is noted by that. */
    boolean takeHurry() {
        if (!hurried) {
            return false;
        }
        hurried = false;
        return true;
    }

    /** To be called by who has just taken the lead, before anything is polled; whether whoever had it has slept, and perhaps sleeps still. */
    boolean end() {
        if (!asleep) {
            return false;
        }
        rounds.disarmForAMoment();
        asleep = false;
        return true;
    }

    /**
     * To be called by who is about to leave. If the lead was taken from a sleeper that sleeps still, gives it back without waking
     * anybody, where that is cheap; returns whether the caller has it no more.
     */
    boolean giveBack() {
        if (!lead.hasLodger() || isWanted()) {
            return false;
        }
        asleep = true;
        boolean given = false;
        try {
            given = rounds.rearm() && !isWanted() && !wouldBeLate() && lead.giveBack(Thread.currentThread());
            return given;
        } finally {
            if (!given) {
                rounds.disarm();
                asleep = false;
            }
        }
    }

    /** Whether the sleeper would have to get up at once. */
    private boolean isWanted() {
        return lead.isClosed() || hurried || engine.isRoundWanted() || engine.hasLeadSeekers();
    }

    /** Whether the sleeper would sleep past a deadline that was named after it fell asleep. */
    private boolean wouldBeLate() {
        return demands.isHeld() && demands.isDueBefore(untilNs);
    }

    /**
     * Sleeps in the reactor, where any thread that waits for itself may take the lead from this one. Returns whether this one has it.
     */
    boolean sleepForOthers(Thread self, Condition mayStop) {
        asleep = true;
        try {
            boolean quiet = rounds.arm(); // and nothing may be polled until it is disarmed
            if (quiet && !isWanted() && !mayStop.isMet()) {
                long timeoutNs = timeoutNs(LONGEST_ASIDE_NS);
                if (timeoutNs > 0) {
                    sleepAside(self, timeoutNs);
                }
            }
        } finally {
            if (lead.isHeldBy(self)) {
                asleep = false;
                rounds.disarm();
            }
        }
        return lead.isHeldBy(self);
    }

    private void sleepAside(Thread self, long timeoutNs) {
        lead.fallAsleep(self);
        try {
            int _ = reactor.sleep(timeoutNs, mayHandle);
        } finally {
            boolean _ = lead.comeBack(self);
        }
    }

    /** Sleeps in the reactor; true if the condition was found met on the way there. */
    boolean sleep(Waitable on, Condition condition, long deadlineNs, long longestNs) {
        sleeper.signalled = false;
        waitList.register(on, sleeper);
        asleep = true;
        try {
            boolean quiet = rounds.arm(); // and nothing may be polled until it is disarmed
            if (condition.isMet()) {
                return true;
            }
            if (quiet && !sleeper.signalled && !isWantedAwake()) {
                long leftNs = deadlineNs == ProgressEngine.NO_DEADLINE ? FOREVER : deadlineNs - System.nanoTime();
                long timeoutNs = timeoutNs(Math.min(leftNs, longestNs));
                if (timeoutNs > 0) {
                    reactor.sleep(timeoutNs);
                }
            }
            return false;
        } finally {
            asleep = false;
            rounds.disarm();
            wasTold = waitList.unregister(on, sleeper);
        }
    }

    private boolean isWantedAwake() {
        return lead.isClosed() || hurried || engine.isRoundWanted() || engine.progressThreadShouldYield();
    }

    /** Whether the last {@link #sleep} ended with the word that what was waited on has changed, told to this thread alone. */
    boolean wasTold() {
        return wasTold;
    }

    /** How long the sleep may last that begins now: who names an earlier deadline from now on ends it. */
    private long timeoutNs(long atMostNs) {
        untilNs = FOREVER;
        long longestNs = Math.min(atMostNs, rounds.longestSleepNs());
        boolean hasDeadline = demands.isHeld();
        if (longestNs == FOREVER && !hasDeadline) {
            return FOREVER;
        }
        long nowNs = System.nanoTime();
        long timeoutNs = hasDeadline ? Math.min(longestNs, demands.untilNextNs(nowNs)) : longestNs;
        if (timeoutNs != FOREVER) {
            untilNs = nowNs + timeoutNs;
        }
        return timeoutNs;
    }
}
