package io.madeleine.pmm;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;

/**
 * Leads while the leader's work is to make virtual threads runnable, being virtual itself. What a platform thread starts or
 * wakes runs when a carrier has been woken for it, which takes the system 5 to 15 us. What this one starts or wakes is run
 * by its own carrier as soon as it steps aside, and it goes on after that: some 0.3 us.
 *
 * <p>It polls in turns, which a platform thread that leads gives it, and never sleeps, which would keep the carrier from
 * others: when nothing has come for a while, {@link ProgressThread} leads, and sleeps. While it is aside nobody leads. If
 * it does not come back, since others compute on all carriers, {@link ProgressThread} notices within milliseconds.
 *
 * <p>A carrier runs what its own threads have made runnable, and who yields, before it looks for what other threads have. So stepping
 * aside is not enough where there is no other carrier: now and then {@link ProgressThread} has it {@linkplain #pause pause}.
 *
 * <p>Threading: {@link #giveTurn}, {@link #hasTurn}, {@link #endTurn}, {@link #pause} and {@link #end} by any thread; the rest is its
 * own.
 */
final class VirtualLeader {
    private static final System.Logger LOGGER = System.getLogger("io.madeleine.pmm");

    /** How often it steps aside at least, for others that wait for its carrier. */
    private static final long SLICE_NS = 50_000;

    /**
     * Without news for so long it leaves the lead to {@link ProgressThread}, which can yield its processor; a virtual thread
     * cannot, and the peer may wait for just that one.
     */
    private static final long PATIENCE_NS = 20_000;

    /** A thread that drives everything once has the lead for less than so many yields. */
    private static final int MOST_TRIES = 32;

    private final FailureLog failures = new FailureLog(LOGGER);
    private final ProgressEngine engine;
    private final Leading leading;
    private final Awakenings awakenings;
    private final Thread thread;
    private final AtomicBoolean started = new AtomicBoolean();
    private volatile boolean hasTurn;
    private volatile boolean pauseIsWanted;
    private int idleRounds;
    private long idleSinceNs;

    VirtualLeader(ProgressEngine engine, Leading leading, Awakenings awakenings, String name) {
        this.engine = engine;
        this.leading = leading;
        this.awakenings = awakenings;
        this.thread =
                Thread.ofVirtual().name("madeleine-virtual-progress-" + name).unstarted(this::run);
    }

    /** From now on it leads, for as long as that is worth it. */
    void giveTurn() {
        hasTurn = true;
        if (started.compareAndSet(false, true)) {
            thread.start();
        } else {
            LockSupport.unpark(thread);
        }
    }

    /** Whether it leads, or is aside and will come back. */
    boolean hasTurn() {
        return hasTurn;
    }

    /** It leads no more, not even if it is aside. */
    void endTurn() {
        hasTurn = false;
    }

    /** Has it leave its carrier, for as long as the system needs to wake the calling thread: some 50 us. */
    void pause() {
        pauseIsWanted = true;
        LockSupport.parkNanos(this, 1);
        pauseIsWanted = false;
        LockSupport.unpark(thread);
    }

    /** The engine is closed. */
    void end() {
        LockSupport.unpark(thread);
    }

    private void run() {
        while (!engine.isClosed()) {
            if (hasTurn) {
                idleRounds = 0;
                takeTurn();
                hasTurn = false;
                engine.turnIsOver();
            } else {
                park();
            }
        }
    }

    private void park() {
        boolean _ = Thread.interrupted(); // by nobody who may: with it, park would not wait
        LockSupport.park(this);
    }

    boolean isRunBy(Thread other) {
        return thread == other;
    }

    private void takeTurn() {
        boolean goesOn = true;
        while (goesOn && tryLead()) {
            try {
                goesOn = lead();
            } catch (RuntimeException | Error e) { // whatever it was: the session's own thread leads
                failures.error("polling failed on a virtual thread of the session's; another thread goes on", e);
                goesOn = false;
            } finally {
                engine.stepAside();
            }
            if (goesOn && pauseIsWanted) {
                park(); // who wants it wakes this thread
            } else if (goesOn) {
                Thread.yield();
            }
        }
    }

    private boolean tryLead() {
        for (int i = 0; i < MOST_TRIES && hasTurn && !engine.isClosed(); i++) {
            if (engine.tryLeadIfFree(thread)) {
                return true;
            }
            Thread.yield();
        }
        return false;
    }

    /** Polls until others may want the carrier (true), or another should lead (false). */
    private boolean lead() {
        leading.begin();
        long asideNs = leading.readClock() + SLICE_NS;
        for (int count = 1; ; count++) {
            int work = leading.round();
            if (work == Rounds.LEAD_IS_GONE) {
                return false;
            }
            idleRounds = work > 0 ? 0 : idleRounds + 1;
            if (!hasTurn || engine.isClosed() || engine.hasLeadSeekers()) {
                return false;
            }
            if (awakenings.take() || pauseIsWanted) {
                return true;
            }
            if (idleRounds > 0) {
                Thread.onSpinWait();
            }
            if (count % Leading.CLOCK_ROUNDS == 0) {
                long nowNs = leading.readClock();
                if (idleRounds <= Leading.CLOCK_ROUNDS) {
                    idleSinceNs = nowNs;
                }
                if (nowNs - idleSinceNs >= PATIENCE_NS) {
                    return false;
                }
                if (nowNs - asideNs >= 0) {
                    return true;
                }
            }
        }
    }
}
