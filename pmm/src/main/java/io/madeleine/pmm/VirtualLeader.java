package io.madeleine.pmm;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;

/**
 * A virtual thread that leads while the leader's work is mainly to make virtual threads runnable. A virtual thread that
 * a platform thread starts or wakes runs only after the system has woken a carrier for it, which takes 5 to 15 us. One
 * that this thread starts or wakes runs on this thread's carrier as soon as it steps aside; after about 0.3 us this
 * thread goes on.
 *
 * <p>It polls in turns, which a leading platform thread gives it. It never sleeps as leader, because that would keep
 * the carrier from others: when no event has come for a while, {@link ProgressThread} leads and sleeps. While this
 * thread has stepped aside, no thread leads. If it does not come back because other threads compute on all carriers,
 * {@link ProgressThread} notices within milliseconds.
 *
 * <p>A carrier prefers the threads that its own threads have made runnable, and those that yield, to those that other
 * threads have made runnable. So where there is no other carrier, stepping aside is not enough: {@link ProgressThread}
 * makes this thread {@linkplain #pause pause} now and then.
 *
 * <p>Threading: any thread may call {@link #giveTurn}, {@link #hasTurn}, {@link #endTurn}, {@link #pause} and {@link
 * #end}; the rest is confined to this thread.
 */
final class VirtualLeader {
    private static final System.Logger LOGGER = System.getLogger("io.madeleine.pmm");

    /** The longest time after which it steps aside for other threads that wait for its carrier. */
    private static final long SLICE_NS = 50_000;

    /**
     * After this time without an event it leaves the lead to {@link ProgressThread}. That thread can yield its
     * processor, for which the peer may wait; a virtual thread cannot.
     */
    private static final long PATIENCE_NS = 20_000;

    /**
     * How often it yields before it gives up taking the lead; another thread that does a single round holds the lead
     * for a shorter time.
     */
    private static final int MOST_TRIES = 32;

    private final FailureLog failures = new FailureLog(LOGGER);
    private final ProgressEngine engine;
    private final Leading leading;
    private final VirtualWakeups wakeups;
    private final Thread thread;
    private final AtomicBoolean started = new AtomicBoolean();
    private volatile boolean hasTurn;
    private volatile boolean pauseIsWanted;
    private int idleRounds;
    private long idleSinceNs;

    VirtualLeader(ProgressEngine engine, Leading leading, VirtualWakeups wakeups, String name) {
        this.engine = engine;
        this.leading = leading;
        this.wakeups = wakeups;
        this.thread =
                Thread.ofVirtual().name("madeleine-virtual-progress-" + name).unstarted(this::run);
    }

    /** From now on it leads for as long as that is useful. */
    void giveTurn() {
        hasTurn = true;
        if (started.compareAndSet(false, true)) {
            thread.start();
        } else {
            LockSupport.unpark(thread);
        }
    }

    /** Whether it leads, or has stepped aside and will come back. */
    boolean hasTurn() {
        return hasTurn;
    }

    /** It stops leading, even if it has stepped aside. */
    void endTurn() {
        hasTurn = false;
    }

    /** Makes it leave its carrier for as long as the system needs to wake the calling thread: about 50 us. */
    void pause() {
        pauseIsWanted = true;
        LockSupport.parkNanos(this, 1);
        pauseIsWanted = false;
        LockSupport.unpark(thread);
    }

    /** Ends it; the engine is closed. */
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
        // no interrupt is meant for this thread, and an interrupted thread does not park
        boolean _ = Thread.interrupted();
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
            } catch (RuntimeException | Error e) { // whatever failed, the session's own thread leads now
                failures.error("polling failed on a virtual thread of the session; another thread goes on", e);
                goesOn = false;
            } finally {
                engine.stepAside();
            }
            if (goesOn && pauseIsWanted) {
                park(); // pause() wakes this thread
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

    /** Polls until other threads may want the carrier (true), or until another thread should lead (false). */
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
            if (wakeups.take() || pauseIsWanted) {
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
