package io.madeleine.pmm;

import io.madeleine.api.SessionException;
import java.util.concurrent.locks.LockSupport;

/**
 * The session's own thread. It leads while something needs progress (waiting virtual threads, handlers, asynchronous
 * operations) and no thread of the user leads; otherwise it sleeps. It passes the lead on as soon as another thread
 * wants it. It takes a free lead only after no thread has taken it for a moment, so that a thread that alternately
 * sends and waits keeps it. Where {@link VirtualLeader} is faster, this thread lets it lead and watches it.
 *
 * <p>Threading: one per engine is on duty ({@link ProgressThreads}); any thread may call {@link #wake}, {@link
 * #leadIsFree} and {@link #end}.
 */
final class ProgressThread extends Thread {
    private static final System.Logger LOGGER = System.getLogger("io.madeleine.pmm");
    private static final long PAUSE_AFTER_FAILURE_NS = 10_000_000;

    /** Checks this often whether the lead is free: the last leader's stack may have overflowed before it could tell. */
    private static final long LONGEST_PARK_NS = 1_000_000_000;

    private static final int GRACE_ROUNDS = 20;

    /** A thread that has polled an adapter without the lead is taken to do so for this time. */
    private static final long POLLED_LATELY_NS = 1_000_000;

    /** How long this thread leaves adapters that demand polls to threads that poll. */
    private static final long LONGEST_ASIDE_NS = 1_000_000;

    /**
     * How long other virtual threads may keep all carriers from the virtual leader before this thread polls instead.
     */
    private static final long WATCH_NS = 1_000_000;

    /**
     * How long the virtual leader may keep its carrier from virtual threads that other threads have made runnable. A
     * pause costs less than a hundredth of this.
     */
    private static final long BETWEEN_PAUSES_NS = 10_000_000;

    private final FailureLog failures = new FailureLog(LOGGER);
    private final ProgressEngine engine;
    private final VirtualLeader virtual;
    private final Waitable never = new Waitable();
    private final Condition mayStop;
    private final String polledInVain;
    private long pausedNs = System.nanoTime();

    /** How often others had begun to poll when this thread last looked, and when that was. */
    private int pollsSeen;

    private long seenNs = pausedNs;
    private long ledNs = pausedNs;
    private long polledAsideNs = pausedNs - POLLED_LATELY_NS;
    private final Grace grace = new Grace(pausedNs);
    private volatile boolean deeplyParked;
    private volatile boolean inLongGrace;

    ProgressThread(ProgressEngine engine, VirtualLeader virtual, String name) {
        super("madeleine-progress-" + name);
        this.engine = engine;
        this.virtual = virtual;
        this.mayStop = () -> !engine.hasDemand()
                || engine.hasLeadSeekers()
                || engine.isClosed()
                || othersPollOften()
                || othersServeDemands();
        this.polledInVain = "polling failed on " + getName() + "; it goes on";
        setDaemon(true);
    }

    /** There is demand, where there was none before. */
    void wake() {
        LockSupport.unpark(this);
    }

    /** There is demand, and the lead may be free. */
    void leadIsFree() {
        if (deeplyParked) {
            LockSupport.unpark(this);
        }
    }

    /** A thread that cannot lead waits. */
    void hurry() {
        if (inLongGrace) {
            LockSupport.unpark(this);
        }
    }

    void end() {
        LockSupport.unpark(this);
        if (Thread.currentThread() != this) {
            try {
                join(1_000);
            } catch (InterruptedException _) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** Goes on after every failure, such as a lack of memory: without this thread the session makes no progress. */
    @Override
    public void run() {
        while (!engine.isClosed()) {
            try {
                leadWhenNeeded();
            } catch (RuntimeException | Error e) {
                failures.error(polledInVain, e);
                LockSupport.parkNanos(this, PAUSE_AFTER_FAILURE_NS);
            }
        }
    }

    private void leadWhenNeeded() {
        int busyRounds = 0;
        long _ = look();
        while (!engine.isClosed()) {
            boolean _ = interrupted(); // no interrupt is meant for this thread, and an interrupted thread does not park
            // a handler kept this thread for too long, and another one is on duty
            if (!engine.progressThreads().isOnDuty(this)) {
                standBy();
                busyRounds = 0;
                long _ = look();
            } else if (virtual.hasTurn()) {
                watch();
                busyRounds = 0;
                long _ = look(); // the virtual leader has released the lead for good
            } else if (!engine.hasDemand()) {
                parkDeeply(false);
                busyRounds = 0;
                long _ = look(); // new demand: the last leader may have left long ago
            } else if (busyRounds > GRACE_ROUNDS) {
                parkDeeply(true);
                if (!engine.isLedByAnother(this)) {
                    engine.passLeadOn(); // threads that seek the lead have not heard that it is free
                }
                busyRounds = 0;
            } else if (engine.isLedByAnother(this)
                    || engine.hasLeadSeekers()
                    || engine.pollCount() != pollsSeen
                    || mayLeaveDemandsToOthers()) {
                int before = pollsSeen;
                long elapsedNs = look();
                busyRounds = pollsSeen == before ? busyRounds + 1 : 0;
                leaveLeadToOthers(pollsSeen - before, elapsedNs);
            } else {
                busyRounds = 0;
                if (engine.needsMoreThanHandlers()) {
                    grace.wasMissed(System.nanoTime());
                }
                lead();
                pollsSeen = engine.pollCount() - 1; // counts as a poll: a seeker may have had the lead and left it
            }
        }
    }

    /** Parks for a time of grace; others have begun to poll {@code polls} times during the last one. */
    private void leaveLeadToOthers(int polls, long elapsedNs) {
        if (engine.isOnlyForHandlers()) {
            grace.hasPassed(polls, engine.isLedByAnother(this), seenNs, elapsedNs);
        }
        inLongGrace = grace.isLong();
        try {
            // checks again after setting the flag: a thread raises demand before it reads the flag
            LockSupport.parkNanos(this, engine.isOnlyForHandlers() ? graceNs() : Grace.SHORTEST_NS);
        } finally {
            inLongGrace = false;
        }
    }

    /** Threads that poll also serve adapters that hold a demand. Once they stop, the adapters wait for this thread. */
    private long graceNs() {
        return engine.needsMoreThanHandlers() ? Math.min(grace.lengthNs(), LONGEST_ASIDE_NS) : grace.lengthNs();
    }

    private void standBy() {
        engine.progressThreads().standBy(this);
        while (!engine.isClosed() && !engine.progressThreads().isOnDuty(this)) {
            LockSupport.park(this);
        }
    }

    /** Ends the virtual leader's turn if it does not come back to lead; otherwise makes it pause now and then. */
    private void watch() {
        int before = engine.leadCount();
        long beganNs = System.nanoTime();
        LockSupport.parkNanos(this, WATCH_NS);
        long nowNs = System.nanoTime();
        if (!engine.isLed() && engine.leadCount() == before && nowNs - beganNs >= WATCH_NS) {
            virtual.endTurn();
            engine.turnIsOver(); // for a virtual leader that has not even begun, and so cannot do this itself
        } else if (nowNs - pausedNs >= BETWEEN_PAUSES_NS) {
            pausedNs = nowNs;
            virtual.pause();
        }
    }

    private void parkDeeply(boolean whileLed) {
        deeplyParked = true;
        try {
            // Checks again after setting the flag: a thread that releases the lead does so before it reads the flag.
            if (!engine.isClosed() && (whileLed ? engine.isLedByAnother(this) : !engine.hasDemand())) {
                LockSupport.parkNanos(this, whileLed ? LONGEST_PARK_NS : Long.MAX_VALUE);
            }
        } finally {
            deeplyParked = false;
        }
    }

    /** Whether others have begun to poll often since the last look, while this thread slept with the lead. */
    private boolean othersPollOften() {
        int polls = engine.pollCount() - pollsSeen;
        return polls > 0 && Grace.isOften(polls, look()) && !engine.needsMoreThanHandlers();
    }

    /** As {@link #othersServeDemands}, if this thread has led lately. */
    private boolean mayLeaveDemandsToOthers() {
        return othersServeDemands() && System.nanoTime() - ledNs < LONGEST_ASIDE_NS;
    }

    /**
     * Whether this thread would lead only for adapters that others poll without the lead. They see what arrives. The
     * rest of the adapters' work, and what their deadlines are for, waits for this thread's next round.
     */
    private boolean othersServeDemands() {
        if (!engine.isOnlyForDemands()) {
            return false;
        }
        long nowNs = System.nanoTime();
        if (engine.areDemandsPolledAside()) {
            polledAsideNs = nowNs;
        }
        return nowNs - polledAsideNs < POLLED_LATELY_NS;
    }

    /** Notes how often others have begun to poll; returns the time since the last look. */
    private long look() {
        long nowNs = System.nanoTime();
        long elapsedNs = nowNs - seenNs;
        seenNs = nowNs;
        pollsSeen = engine.pollCount();
        return elapsedNs;
    }

    private void lead() {
        if (!engine.tryLead(this)) {
            return;
        }
        long _ = look();
        ledNs = seenNs;
        WaitOutcome outcome = WaitOutcome.MET;
        try {
            outcome = engine.lead(false, never, mayStop, ProgressEngine.NO_DEADLINE);
        } catch (RuntimeException | Error e) {
            boolean _ = interrupted();
            if (!(e instanceof SessionException && engine.isClosed())) { // closed meanwhile: run() ends
                failures.error(polledInVain, e);
                LockSupport.parkNanos(this, PAUSE_AFTER_FAILURE_NS);
            }
        } finally {
            engine.releaseLead(outcome);
        }
    }
}
