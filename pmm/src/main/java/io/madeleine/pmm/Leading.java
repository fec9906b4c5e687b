package io.madeleine.pmm;

import io.madeleine.pmm.spi.Reactor;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Runs the leader's rounds while it waits. Between rounds the leader spins, yields or sleeps in the reactor, as {@link
 * WaitPolicy} says.
 *
 * <p>Threading: confined to the leader.
 */
final class Leading {
    /** The clock is read once in this many rounds: reading it costs as much as a round of an idle network. */
    static final int CLOCK_ROUNDS = 16;

    /**
     * In adaptive mode, how long to spin before a yield. A peer that shares this processor, because all others are
     * busy, cannot answer before it gets the processor: without yields each message would take a whole spin period.
     */
    private static final long SPIN_SLICE_NS = 5_000;

    /**
     * The same where processes outnumber processors, so that the peer probably waits for this one: about what a yield
     * costs. The clock is then read in each idle round.
     */
    private static final long CROWDED_SLICE_NS = 1_000;

    /**
     * If the leader wakes virtual threads more often than this without a sleep in between, a virtual thread should
     * lead.
     */
    private static final int MOST_AWAKENED = 3;

    /**
     * The longest sleep of a waiting handler in the virtual leader: the sleep keeps the carrier from other virtual
     * threads.
     */
    private static final long CARRIER_SLEEP_NS = 1_000_000;

    private final ProgressEngine engine;
    private final Lead lead;
    private final Rounds rounds;
    private final WaitList waitList;
    private final Reactor reactor;
    private final WaitPolicy policy;
    private final WaitHintCounts others;
    private final VirtualWakeups wakeups;
    private final Sleeping sleeping;
    private final SpareProcessor processor;
    private final LongSupplier clock;

    /** What the leader itself waits on. */
    private @Nullable Waitable own;

    /** Whether the leader has to check {@link #own}, because a {@code signalOne} was given to it alone. */
    private boolean owing;

    /** The clock when the leader last read it; good enough for {@link #roundsBeforeClock} more rounds. */
    private long clockNs;

    private int roundsBeforeClock;

    Leading(
            ProgressEngine engine,
            Lead lead,
            Rounds rounds,
            WaitList waitList,
            Reactor reactor,
            WaitPolicy policy,
            WaitHintCounts others,
            VirtualWakeups wakeups,
            Sleeping sleeping,
            SpareProcessor processor,
            LongSupplier clock) {
        this.engine = engine;
        this.lead = lead;
        this.rounds = rounds;
        this.waitList = waitList;
        this.reactor = reactor;
        this.policy = policy;
        this.others = others;
        this.wakeups = wakeups;
        this.sleeping = sleeping;
        this.processor = processor;
        this.clock = clock;
        this.clockNs = clock.getAsLong();
    }

    /** Whether the policy lets threads spin before they sleep. */
    boolean spins() {
        return policy.mode() == WaitMode.SPIN || (policy.mode() == WaitMode.ADAPTIVE && policy.spinNs() > 0);
    }

    /**
     * Called by a thread that has just taken the lead, before it polls: the previous holder may have slept, and may
     * still sleep.
     */
    void begin() {
        if (sleeping.end()) {
            own = null;
            owing = false;
            roundsBeforeClock = 0; // time has passed
        }
    }

    /**
     * Whether the caller is the leader and itself waits on {@code on}: it then checks its condition after this round,
     * and no other thread needs to be told. Only for the first change: a second one is for another waiter.
     */
    boolean takesNote(Waitable on) {
        if (!lead.isHeldBy(Thread.currentThread()) || own != on || owing) {
            return false;
        }
        owing = true;
        return true;
    }

    /**
     * Polls and sleeps until the condition holds, the deadline has come, or another thread should lead. The caller
     * holds the lead; it no longer does if the outcome is {@link WaitOutcome#LEAD_IS_GONE}.
     *
     * @param inHandler whether the caller waits in a handler; the rounds then call no handlers, and no virtual thread
     *     is to lead
     */
    WaitOutcome lead(boolean inHandler, Waitable on, Condition condition, long deadlineNs) {
        begin();
        Waitable outer = own;
        if (outer != null) {
            settle(outer); // a handler waits, so the outer wait cannot check soon
        }
        long selfId = Thread.currentThread().threadId();
        own = on;
        WaitOutcome outcome = WaitOutcome.EXPIRED;
        try {
            outcome = recovering(inHandler, on, condition, deadlineNs);
            return outcome;
        } finally {
            if (lead.holder == selfId) {
                own = outer; // before any call: the stack may be exhausted
                if (outcome == WaitOutcome.MET) {
                    owing = false;
                } else {
                    settle(on);
                }
            }
        }
    }

    /**
     * A handler releases the lead, which its thread may have taken in an outer wait that continues after the handler.
     */
    void releaseFromHandler() {
        Waitable outer = own;
        if (outer != null) {
            settle(outer);
            own = null;
        }
        lead.release();
    }

    /** Passes a change on to another waiter, because the leader has not checked it, or not soon enough. */
    private void settle(Waitable on) {
        if (owing) {
            owing = false;
            waitList.signalOne(on);
        }
    }

    /**
     * Runs the rounds; catches the errors of truncated shared memory, which the JVM throws some time after the access
     * and thus possibly outside the source's own handling.
     */
    private WaitOutcome recovering(boolean inHandler, Waitable on, Condition condition, long deadlineNs) {
        while (true) {
            try {
                return rounds(inHandler, on, condition, deadlineNs);
            } catch (InternalError e) {
                if (!rounds.recover(e)) {
                    throw e;
                }
                if (!lead.isHeldBy(Thread.currentThread())) {
                    return WaitOutcome.LEAD_IS_GONE;
                }
            }
        }
    }

    private WaitOutcome rounds(boolean inHandler, Waitable on, Condition condition, long deadlineNs) {
        long idleSinceNs = 0;
        long yieldAtNs = 0;
        int yields = 0;
        int awakened = 0;
        int idleRounds = 0;
        Thread self = Thread.currentThread();
        boolean keepsCarrier = inHandler && self.isVirtual();
        boolean leadsForOthers = !inHandler && self instanceof ProgressThread;
        boolean canLend = leadsForOthers && reactor.asksBeforeHandling();
        boolean yieldsEachLook = leadsForOthers && policy.oneProcessor();
        boolean mayYield = policy.mode() == WaitMode.ADAPTIVE || keepsCarrier || yieldsEachLook;
        boolean isCrowded = policy.mode() == WaitMode.ADAPTIVE && policy.crowded();
        // a leader that was idle for no more rounds has just become idle
        int firstRounds = isCrowded ? 1 : CLOCK_ROUNDS;
        long sliceNs = isCrowded ? CROWDED_SLICE_NS : SPIN_SLICE_NS;
        boolean hasServed = false;
        for (int count = 1; ; count++) {
            int work = inHandler ? rounds.poll(recentNs()) : round();
            if (condition.isMet()) {
                return WaitOutcome.MET;
            }
            if (work == Rounds.LEAD_IS_GONE) {
                return WaitOutcome.LEAD_IS_GONE;
            }
            owing = false;
            if (lead.isClosed()) { // a handler may have closed the engine: the sources of the next round are gone
                throw ProgressEngine.closedException();
            }
            if (!inHandler && wakeups.take() && ++awakened > MOST_AWAKENED && mayPoll(on.hint)) {
                return WaitOutcome.LEFT_TO_VIRTUAL;
            }
            idleRounds = work > 0 ? 0 : idleRounds + 1;
            hasServed |= work > 0;
            boolean looks =
                    count % CLOCK_ROUNDS == 0 || policy.mode() == WaitMode.BLOCK || (isCrowded && idleRounds > 0);
            if (!looks) {
                if (idleRounds > 0) {
                    Thread.onSpinWait();
                }
                continue;
            }
            long nowNs = readClock();
            engine.checkWait(deadlineNs);
            if (deadlineNs != ProgressEngine.NO_DEADLINE && deadlineNs - nowNs <= 0) {
                return WaitOutcome.EXPIRED;
            }
            boolean hurries = sleeping.takeHurry();
            if (hurries || idleRounds <= firstRounds) {
                idleSinceNs = nowNs;
                yieldAtNs = nowNs + sliceNs;
                yields = 0;
            }
            if (isCrowded && idleRounds > 0 && nowNs - yieldAtNs < 0) {
                Thread.onSpinWait();
                continue;
            }
            boolean polls = idleRounds == 0
                    || !leadsForOthers
                    || !(engine.isOnlyForDemands() || (canLend && !hasServed && engine.isOnlyForHandlers()));
            if (polls) {
                WaitHint hint = others.of(on.hint);
                if (idleRounds == 0 || (mayStay(nowNs) && isPatient(hint, nowNs - idleSinceNs, leadsForOthers))) {
                    boolean yieldIsDue = nowNs - yieldAtNs >= 0 || hint == WaitHint.THROUGHPUT || yieldsEachLook;
                    if (idleRounds > 0 && yieldIsDue && mayYield) {
                        yieldAtNs = processor.leaveForAMoment() + sliceNs;
                    } else {
                        Thread.onSpinWait();
                    }
                    continue;
                }
                if (policy.mode() == WaitMode.ADAPTIVE
                        && hint != WaitHint.CPU
                        && yields < policy.yieldRounds()
                        && mayStay(nowNs)) {
                    yields++;
                    yieldAtNs = processor.leaveForAMoment() + sliceNs;
                    continue;
                }
            }
            if (lead.hasOtherSleeper()) {
                makeRoom();
                continue;
            }
            awakened = 0;
            hasServed = false;
            if (canLend) {
                if (!sleepForOthers(self, on, condition)) {
                    return WaitOutcome.LEAD_IS_GONE;
                }
            } else if (sleep(on, condition, deadlineNs, keepsCarrier ? CARRIER_SLEEP_NS : Long.MAX_VALUE)) {
                return WaitOutcome.MET;
            }
        }
    }

    /** Wakes the thread that is in the reactor's sleep without the lead: only one thread can sleep there. */
    private void makeRoom() {
        reactor.wakeUp();
        Thread.yield();
    }

    /** Does one round; returns how many events were handled, or {@link Rounds#LEAD_IS_GONE}. */
    int round() {
        return engine.round(recentNs());
    }

    /** Whether the policy and the hints of all waiters permit polling without a pause, and a processor is spare. */
    private boolean mayPoll(@Nullable WaitHint own) {
        return spins() && WaitHint.isImpatient(others.of(own)) && mayStay(recentNs());
    }

    /** Whether the leader may keep its processor though it is idle. */
    private boolean mayStay(long nowNs) {
        return policy.mode() == WaitMode.SPIN || processor.isSpare(nowNs);
    }

    /**
     * Returns the time, possibly that of some rounds ago: a wait that ends in its first rounds does not read the clock.
     */
    private long recentNs() {
        return --roundsBeforeClock < 0 ? readClock() : clockNs;
    }

    long readClock() {
        roundsBeforeClock = CLOCK_ROUNDS;
        clockNs = clock.getAsLong();
        return clockNs;
    }

    /**
     * Whether a thread that has been idle for {@code idleNs} should keep polling. A waiting thread has no other work;
     * the session's own thread, if it serves only handlers, may keep the program's threads from a processor.
     */
    private boolean isPatient(WaitHint hint, long idleNs, boolean leadsForOthers) {
        return switch (policy.mode()) {
            case SPIN -> !leadsForOthers || !engine.isOnlyForHandlers() || idleNs < policy.patienceNs(WaitHint.LATENCY);
            case ADAPTIVE -> idleNs < policy.patienceNs(hint);
            case BLOCK -> false;
        };
    }

    /**
     * Sleeps in the reactor while any waiting thread may take the lead from this one. Returns whether this thread has
     * the lead afterwards. No thread signals the object that the session's own thread waits on.
     */
    private boolean sleepForOthers(Thread self, Waitable on, Condition mayStop) {
        try {
            return sleeping.sleepForOthers(self, mayStop);
        } finally {
            if (lead.isHeldBy(self)) {
                own = on;
                roundsBeforeClock = 0; // time has passed
            }
        }
    }

    /** Sleeps in the reactor; returns true if the condition held before the sleep. */
    private boolean sleep(Waitable on, Condition condition, long deadlineNs, long longestNs) {
        try {
            return sleeping.sleep(on, condition, deadlineNs, longestNs);
        } finally {
            roundsBeforeClock = 0; // time has passed
            owing |= sleeping.wasTold();
        }
    }
}
