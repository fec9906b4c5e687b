package io.madeleine.pmm;

import io.madeleine.api.SessionException;
import java.util.concurrent.locks.LockSupport;

/**
 * The session's own thread: leads while there is demand (virtual threads that wait, handlers, asynchronous operations)
 * and no thread of the user leads; sleeps otherwise. It hands the lead over as soon as somebody else wants it, and takes
 * a lead that was left only if nobody has taken it for a moment: a thread that sends and waits in turns keeps it so. What
 * {@link VirtualLeader} does better it leaves to that, and watches it.
 *
 * <p>Threading: one per engine is on duty ({@link OwnThreads}); {@link #wake}, {@link #leadIsFree} and {@link #end} may be called by any thread.
 */
final class ProgressThread extends Thread {
    private static final System.Logger LOGGER = System.getLogger("io.madeleine.pmm");
    private static final long PAUSE_AFTER_FAILURE_NS = 10_000_000;
    private static final long GRACE_NS = 100_000;

    /** The stack of who lets the lead go may come to its end before that says so. */
    private static final long LONGEST_PARK_NS = 1_000_000_000;

    private static final int GRACE_ROUNDS = 20;

    /** For how long others may keep all carriers from the virtual leader before this thread polls instead. */
    private static final long WATCH_NS = 1_000_000;

    /**
     * For so long the virtual leader may keep its carrier from virtual threads that other threads have made runnable. A pause costs it
     * less than a hundredth of that.
     */
    private static final long BETWEEN_PAUSES_NS = 10_000_000;

    private final FailureLog failures = new FailureLog(LOGGER);
    private final ProgressEngine engine;
    private final VirtualLeader virtual;
    private final Waitable never = new Waitable();
    private final Condition mayStop;
    private final String polledInVain;
    private long pausedNs = System.nanoTime();
    private volatile boolean deeplyParked;

    ProgressThread(ProgressEngine engine, VirtualLeader virtual, String name) {
        super("madeleine-progress-" + name);
        this.engine = engine;
        this.virtual = virtual;
        this.mayStop = () -> !engine.hasDemand() || engine.hasLeadSeekers() || engine.isClosed();
        this.polledInVain = "polling failed on " + getName() + "; it goes on";
        setDaemon(true);
    }

    /** There is demand where there was none. */
    void wake() {
        LockSupport.unpark(this);
    }

    /** There is demand, and the lead may be free. */
    void leadIsFree() {
        if (deeplyParked) {
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

    /** Whatever happens, memory that is short for instance: without this thread the session stands still. */
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
        int leadsSeen = engine.leadCount();
        while (!engine.isClosed()) {
            boolean _ = interrupted(); // by nobody who may: with it, no park would wait
            if (!engine.ownThreads().isOnDuty(this)) { // a handler has kept it for long
                standBy();
                busyRounds = 0;
                leadsSeen = engine.leadCount();
            } else if (virtual.hasTurn()) {
                watch();
                busyRounds = 0;
                leadsSeen = engine.leadCount(); // it has let the lead go for good
            } else if (!engine.hasDemand()) {
                parkDeeply(false);
                busyRounds = 0;
                leadsSeen = engine.leadCount(); // new demand: who led before may have left long ago
            } else if (busyRounds > GRACE_ROUNDS) {
                parkDeeply(true);
                if (!engine.isLedByAnother(this)) {
                    engine.passLeadOn(); // who seeks it has not heard that it is free
                }
                busyRounds = 0;
            } else if (engine.isLedByAnother(this) || engine.hasLeadSeekers() || engine.leadCount() != leadsSeen) {
                leadsSeen = engine.leadCount();
                busyRounds++;
                LockSupport.parkNanos(this, GRACE_NS);
            } else {
                busyRounds = 0;
                lead();
                leadsSeen = engine.leadCount() - 1; // who wanted it may have had it by now, and left it for a moment
            }
        }
    }

    private void standBy() {
        engine.ownThreads().standBy(this);
        while (!engine.isClosed() && !engine.ownThreads().isOnDuty(this)) {
            LockSupport.park(this);
        }
    }

    /** Ends the turn of a virtual leader that does not come back to lead, and has one that always does pause. */
    private void watch() {
        int before = engine.leadCount();
        long beganNs = System.nanoTime();
        LockSupport.parkNanos(this, WATCH_NS);
        long nowNs = System.nanoTime();
        if (!engine.isLed() && engine.leadCount() == before && nowNs - beganNs >= WATCH_NS) {
            virtual.endTurn();
            engine.turnIsOver(); // it may not even have begun, and then says nothing itself
        } else if (nowNs - pausedNs >= BETWEEN_PAUSES_NS) {
            pausedNs = nowNs;
            virtual.pause();
        }
    }

    private void parkDeeply(boolean whileLed) {
        deeplyParked = true;
        try {
            // Looks again after raising the flag: who leaves the lead looks at the flag after leaving.
            if (!engine.isClosed() && (whileLed ? engine.isLedByAnother(this) : !engine.hasDemand())) {
                LockSupport.parkNanos(this, whileLed ? LONGEST_PARK_NS : Long.MAX_VALUE);
            }
        } finally {
            deeplyParked = false;
        }
    }

    private void lead() {
        if (!engine.tryLead(this)) {
            return;
        }
        WaitOutcome outcome = WaitOutcome.MET;
        try {
            outcome = engine.lead(false, never, mayStop, ProgressEngine.NO_DEADLINE);
        } catch (SessionException _) {
            // closed meanwhile: run() ends
        } catch (RuntimeException | Error e) {
            boolean _ = interrupted();
            failures.error(polledInVain, e);
            LockSupport.parkNanos(this, PAUSE_AFTER_FAILURE_NS);
        } finally {
            engine.releaseLead(outcome);
        }
    }
}
