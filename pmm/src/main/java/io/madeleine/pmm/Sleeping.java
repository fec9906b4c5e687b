package io.madeleine.pmm;

import io.madeleine.pmm.spi.Reactor;
import java.util.function.BooleanSupplier;

/**
 * The leader's sleep in the reactor, and giving the lead back to a sleeping thread.
 *
 * <p>The session's own thread sleeps so that others may take the lead from it ({@link Lead}). The taker disarms the
 * networks and polls at once. When it leaves, it gives the lead back if all networks can be armed again cheaply and the
 * sleeper has not woken up. Otherwise it wakes the sleeper; so does a leader that wants to sleep in the reactor itself.
 *
 * <p>No change is missed. A thread that goes to sleep with the lead first sets {@link #isAsleep}, arms the networks,
 * and then checks once more. A thread that changes something does so first, then checks the flag, and wakes the thread
 * in the reactor. A taker of the lead clears the flag before its first round, and sets it before its last check when it
 * gives the lead back. The same holds for deadlines: until the sleeper has published how long it will sleep, each new
 * deadline wakes it.
 *
 * <p>Threading: confined to the leader, except for {@link #isAsleep}, {@link #lastsPast} and {@link #hurry}.
 */
final class Sleeping {
    /**
     * The session's own thread checks this often whether the lead is free: the taker's stack may have overflowed before
     * it could tell. Not more often: a wake-up of an idle process takes milliseconds, since nothing is in the caches.
     */
    private static final long LONGEST_ASIDE_NS = 3_000_000_000L;

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

    /** When the current or last sleep in the reactor ends at the latest, no matter which thread has the lead. */
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

    /**
     * Whether the leader sleeps, or is about to and will check once more: a thread that changes something has to wake
     * it.
     */
    boolean isAsleep() {
        return asleep;
    }

    /** Whether the leader sleeps and would wake up only after that time. */
    boolean lastsPast(long timeNs) {
        return asleep && endsAfter(timeNs);
    }

    private boolean endsAfter(long timeNs) {
        long endNs = untilNs;
        return endNs == FOREVER || timeNs - endNs < 0;
    }

    /** An impatient thread has begun to wait: the leader polls again as if it had just begun itself. */
    void hurry() {
        hurried = true;
        if (asleep) {
            reactor.wakeUp();
        }
    }

    /** Whether an impatient thread has begun to wait since the last call. */
    boolean takeHurry() {
        if (!hurried) {
            return false;
        }
        hurried = false;
        return true;
    }

    /**
     * Called by a thread that has just taken the lead, before it polls. Returns whether the previous holder slept with
     * the lead; it may still be in the reactor.
     */
    boolean end() {
        if (!asleep) {
            return false;
        }
        rounds.disarmForAMoment();
        asleep = false;
        return true;
    }

    /**
     * Called by a leader that is about to leave. If it took the lead from a thread that still sleeps, gives the lead
     * back without waking a thread, provided that this is cheap. Returns whether the caller no longer has the lead.
     */
    boolean giveBack() {
        if (!lead.hasOtherSleeper() || isWanted()) {
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

    /** Whether the sleeper would have to wake up at once. */
    private boolean isWanted() {
        return lead.isClosed() || hurried || engine.isRoundWanted() || engine.hasLeadSeekers();
    }

    /** Whether the sleeper would miss a deadline that was set after it fell asleep. */
    private boolean wouldBeLate() {
        return demands.isHeld() && demands.isDueBefore(untilNs);
    }

    /**
     * Sleeps in the reactor while any waiting thread may take the lead from this one. Returns whether this thread has
     * the lead afterwards.
     */
    boolean sleepForOthers(Thread self, Condition mayStop) {
        asleep = true;
        try {
            boolean quiet = rounds.arm(); // no poll until it is disarmed
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

    /** Sleeps in the reactor; returns true if the condition held before the sleep. */
    boolean sleep(Waitable on, Condition condition, long deadlineNs, long longestNs) {
        sleeper.signalled = false;
        waitList.register(on, sleeper);
        asleep = true;
        try {
            boolean quiet = rounds.arm(); // no poll until it is disarmed
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

    /** Whether, during the last {@link #sleep}, a change was signalled to this thread alone. */
    boolean wasTold() {
        return wasTold;
    }

    /** Returns how long the sleep that begins now may last; an earlier deadline that is set from now on ends it. */
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
