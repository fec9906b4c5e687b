package io.madeleine.pmm;

import io.madeleine.pmm.spi.Reactor;
import org.jspecify.annotations.Nullable;

/**
 * What the thread that holds the lead does while it waits: rounds, as {@link WaitPolicy} says spinning, yielding or asleep
 * in the reactor in between.
 *
 * <p>Threading: the leader's.
 */
final class Leading {
    /** Reading the clock costs as much as a round of an idle network: it is read every so many rounds, whoever leads. */
    static final int CLOCK_ROUNDS = 16;

    /**
     * In adaptive mode, how long to spin at a stretch. A peer that shares the processor, because others keep the rest
     * busy, cannot answer before it gets it: without yields in between, each message would cost a whole spin.
     */
    private static final long SPIN_SLICE_NS = 5_000;

    /** So many times the leader may wake virtual threads without a sleep in between; then a virtual one should lead. */
    private static final int MOST_AWAKENED = 3;

    /** A virtual leader's handler that waits keeps a carrier from others for no longer. */
    private static final long CARRIER_SLEEP_NS = 1_000_000;

    private final ProgressEngine engine;
    private final Lead lead;
    private final Rounds rounds;
    private final WaitList waitList;
    private final Reactor reactor;
    private final WaitPolicy policy;
    private final Impatience others;
    private final Awakenings awakenings;
    private final Sleeping sleeping;

    /** What the thread that leads waits on itself, and whether it has to look since it alone was told. */
    private @Nullable Waitable own;

    private boolean owing;

    /** The leader's: what the clock said when it was read last, and for how many rounds more that is good enough. */
    private long clockNs = System.nanoTime();

    private int roundsBeforeClock;

    Leading(
            ProgressEngine engine,
            Lead lead,
            Rounds rounds,
            WaitList waitList,
            Reactor reactor,
            WaitPolicy policy,
            Impatience others,
            Awakenings awakenings,
            Sleeping sleeping) {
        this.engine = engine;
        this.lead = lead;
        this.rounds = rounds;
        this.waitList = waitList;
        this.reactor = reactor;
        this.policy = policy;
        this.others = others;
        this.awakenings = awakenings;
        this.sleeping = sleeping;
    }

    /** Whether the policy has threads spin before they sleep. */
    boolean spins() {
        return policy.mode() == WaitMode.SPIN || (policy.mode() == WaitMode.ADAPTIVE && policy.spinNs() > 0);
    }

    /** To be called by who has just taken the lead, before anything is polled: whoever had it may have slept, and sleep still. */
    void begin() {
        if (sleeping.end()) {
            own = null;
            owing = false;
            roundsBeforeClock = 0; // the time has gone on
        }
    }

    /**
     * Whether the caller is the leader and waits for this itself, so that nobody else need be told: it looks when the round is
     * over. Of two changes, the second one is for another.
     */
    boolean takesNote(Waitable on) {
        if (!lead.isHeldBy(Thread.currentThread()) || own != on || owing) {
            return false;
        }
        owing = true;
        return true;
    }

    /**
     * Polls and sleeps until the condition is met, the deadline has come, or another should lead. The caller holds the lead,
     * and has it no more if that is gone.
     *
     * @param inHandler whether it waits in a handler: none is called then, nor is a virtual thread to lead
     */
    WaitOutcome lead(boolean inHandler, Waitable on, Condition condition, long deadlineNs) {
        begin();
        Waitable outer = own;
        if (outer != null) {
            settle(outer); // a handler waits: others should not have to wait for it
        }
        long selfId = Thread.currentThread().threadId();
        own = on;
        WaitOutcome outcome = WaitOutcome.EXPIRED;
        try {
            outcome = recovering(inHandler, on, condition, deadlineNs);
            return outcome;
        } finally {
            if (lead.holder == selfId) {
                own = outer; // before any call: the stack may have come to its end
                if (outcome == WaitOutcome.MET) {
                    owing = false;
                } else {
                    settle(on);
                }
            }
        }
    }

    /** A handler lets the lead go, which its thread may have had in a wait that goes on after the handler. */
    void letGo() {
        Waitable outer = own;
        if (outer != null) {
            settle(outer);
            own = null;
        }
        lead.release();
    }

    /** Passes on a change that the leader has not looked at and will not, or not soon. */
    private void settle(Waitable on) {
        if (owing) {
            owing = false;
            waitList.signalOne(on);
        }
    }

    /** An error of memory that was cut short comes some time after the access, and so perhaps out of any loop. */
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
            if (lead.isClosed()) { // by a handler, perhaps: what the next round polls is gone
                throw ProgressEngine.closedException();
            }
            if (!inHandler && awakenings.take() && ++awakened > MOST_AWAKENED && mayPoll(on.hint)) {
                return WaitOutcome.LEFT_TO_VIRTUAL;
            }
            idleRounds = work > 0 ? 0 : idleRounds + 1;
            hasServed |= work > 0;
            if (count % CLOCK_ROUNDS != 0 && policy.mode() != WaitMode.BLOCK) {
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
            if (hurries || idleRounds <= CLOCK_ROUNDS) {
                idleSinceNs = nowNs;
                yieldAtNs = nowNs + SPIN_SLICE_NS;
                yields = 0;
            }
            WaitHint hint = others.of(on.hint);
            boolean isIdle = leadsForOthers
                    && idleRounds > 0
                    && (engine.isOnlyForDemands() || (canLend && !hasServed && engine.isOnlyForHandlers()));
            if (isIdle && lead.hasLodger()) {
                makeRoom();
            } else if (isIdle && canLend) {
                if (!sleepForOthers(self, on, condition)) {
                    return WaitOutcome.LEAD_IS_GONE;
                }
            } else if (isIdle) {
                if (sleep(on, condition, deadlineNs, Long.MAX_VALUE)) {
                    return WaitOutcome.MET;
                }
            } else if (idleRounds == 0 || spends(hint, nowNs - idleSinceNs, leadsForOthers)) {
                if ((policy.mode() == WaitMode.ADAPTIVE || keepsCarrier)
                        && idleRounds > 0
                        && (nowNs - yieldAtNs >= 0 || hint == WaitHint.THROUGHPUT)) {
                    yieldAtNs = nowNs + SPIN_SLICE_NS;
                    Thread.yield();
                } else {
                    Thread.onSpinWait();
                }
            } else if (policy.mode() == WaitMode.ADAPTIVE && hint != WaitHint.CPU && yields < policy.yieldRounds()) {
                yields++;
                Thread.yield();
            } else if (lead.hasLodger()) {
                makeRoom();
            } else if (canLend) {
                awakened = 0;
                hasServed = false;
                if (!sleepForOthers(self, on, condition)) {
                    return WaitOutcome.LEAD_IS_GONE;
                }
            } else {
                awakened = 0;
                if (sleep(on, condition, deadlineNs, keepsCarrier ? CARRIER_SLEEP_NS : Long.MAX_VALUE)) {
                    return WaitOutcome.MET;
                }
            }
        }
    }

    /** Wakes who is in the reactor without the lead: there is room for one. */
    private void makeRoom() {
        reactor.wakeUp();
        Thread.yield();
    }

    /** One round; returns how many events were handled, or {@link Rounds#LEAD_IS_GONE}. */
    int round() {
        return engine.round(recentNs());
    }

    /** Whether polling without a pause is what the policy and those who wait allow. */
    private boolean mayPoll(@Nullable WaitHint own) {
        return spins() && WaitHint.isImpatient(others.of(own));
    }

    /** The time, which may be some rounds ago: a wait that ends in its first rounds does not read the clock. */
    private long recentNs() {
        return --roundsBeforeClock < 0 ? readClock() : clockNs;
    }

    long readClock() {
        roundsBeforeClock = CLOCK_ROUNDS;
        clockNs = System.nanoTime();
        return clockNs;
    }

    /**
     * Whether the policy spends a thread that has been idle for so long on spinning. A thread that waits has nothing else to do;
     * the session's own, with nothing but handlers to look after, may keep the program's threads from a processor.
     */
    private boolean spends(WaitHint hint, long idleNs, boolean leadsForOthers) {
        return switch (policy.mode()) {
            case SPIN -> !leadsForOthers || !engine.isOnlyForHandlers() || idleNs < policy.patienceNs(WaitHint.LATENCY);
            case ADAPTIVE -> idleNs < policy.patienceNs(hint);
            case BLOCK -> false;
        };
    }

    /**
     * Sleeps in the reactor, where any thread that waits for itself may take the lead from this one. Returns whether this one has it.
     * What it waits on nobody signals.
     */
    private boolean sleepForOthers(Thread self, Waitable on, Condition mayStop) {
        try {
            return sleeping.sleepForOthers(self, mayStop);
        } finally {
            if (lead.isHeldBy(self)) {
                own = on;
                roundsBeforeClock = 0; // the time has gone on
            }
        }
    }

    /** Sleeps in the reactor; true if the condition was found met on the way there. */
    private boolean sleep(Waitable on, Condition condition, long deadlineNs, long longestNs) {
        try {
            return sleeping.sleep(on, condition, deadlineNs, longestNs);
        } finally {
            roundsBeforeClock = 0; // the time has gone on
            owing |= sleeping.wasTold();
        }
    }
}
