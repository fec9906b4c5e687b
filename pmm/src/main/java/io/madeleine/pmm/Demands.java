package io.madeleine.pmm;

import io.madeleine.pmm.spi.Demand;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The demands of a session's adapters: whether one is held, and when the next poll is due.
 *
 * <p>The engine sleeps past no deadline: a thread that sets one writes it first and then checks whether a thread sleeps
 * past it; a thread that is about to sleep says so first and then reads the deadlines.
 *
 * <p>Threading: thread-safe; only the leader calls {@link #untilNextNs}.
 */
public final class Demands {
    /**
     * The shortest time between two polls for deadlines in the past, so that a source that always sets such deadlines
     * does not make a busy loop.
     */
    static final long SHORTEST_PAUSE_NS = 100_000;

    private final AtomicInteger heldCount = new AtomicInteger();
    private volatile Held[] all = {};
    private volatile Listener listener = new Listener() {};
    private long hastenedNs = System.nanoTime() - SHORTEST_PAUSE_NS;

    /** Hears of the adapters' demands, in any thread. */
    public interface Listener {
        /** A demand is held that was not held before. */
        default void onHeld() {}

        /** A held demand has to be polled by that time. */
        default void onDue(long deadlineNs) {}
    }

    /** A table without demands. */
    public Demands() {}

    /** Makes a demand, not held, for one adapter. */
    public Demand newDemand() {
        Held made = new Held();
        synchronized (this) {
            Held[] grown = Arrays.copyOf(all, all.length + 1);
            grown[grown.length - 1] = made;
            all = grown;
        }
        return made;
    }

    private synchronized void forget(Held closed) {
        all = Arrays.stream(all).filter(other -> other != closed).toArray(Held[]::new);
    }

    /** Sets the listener, in place of the previous one. */
    public void listen(Listener wanted) {
        listener = wanted;
        if (isHeld()) {
            wanted.onHeld();
        }
    }

    /** Whether any demand is held. */
    public boolean isHeld() {
        return heldCount.get() > 0;
    }

    /**
     * Returns for how many nanoseconds no poll is needed; {@link Demand#NONE} if there is no deadline. Clears the
     * deadlines that have passed: the caller polls, at once if the result is 0.
     */
    public long untilNextNs(long nowNs) {
        long leftNs = Demand.NONE;
        boolean isDue = false;
        for (Held each : all) {
            long ofEach = each.leftNs(nowNs);
            isDue |= ofEach <= 0;
            leftNs = ofEach > 0 ? Math.min(leftNs, ofEach) : leftNs;
        }
        if (!isDue) {
            return leftNs;
        }
        long pauseNs = SHORTEST_PAUSE_NS - (nowNs - hastenedNs);
        if (pauseNs > 0) {
            return Math.min(pauseNs, leftNs);
        }
        hastenedNs = nowNs;
        return 0;
    }

    /** Whether a poll is due before that time. */
    boolean isDueBefore(long timeNs) {
        for (Held each : all) {
            if (each.isDueBefore(timeNs)) {
                return true;
            }
        }
        return false;
    }

    /**
     * Whether threads have {@linkplain Demand#polledAside polled}, without the lead, every adapter whose demand is
     * held since the last call; true if none is held. Called by the session's own thread.
     */
    boolean arePolledAside() {
        boolean allArePolled = true;
        for (Held each : all) {
            allArePolled &= each.wasPolledAside(); // each notes what it has seen
        }
        return allArePolled;
    }

    /** The demand of one adapter. */
    private final class Held implements Demand {
        /** The count of a closed demand: so low that no number of holds makes it positive. */
        private static final int CLOSED = Integer.MIN_VALUE / 2;

        private static final VarHandle POLLS = pollsHandle();

        private final AtomicInteger count = new AtomicInteger();
        private volatile long dueNs = NONE;
        private volatile long keptNs = NONE; // the last deadline that was served; written by the leader

        @SuppressWarnings("UnusedVariable") // used by POLLS
        private int polls;

        private int pollsSeen;

        @Override
        public void hold() {
            if (count.getAndIncrement() == 0) {
                heldCount.incrementAndGet();
                Listener told = listener;
                told.onHeld();
                long deadlineNs = dueNs;
                if (deadlineNs != NONE) {
                    told.onDue(deadlineNs);
                }
            }
        }

        @Override
        public void release() {
            int before = count.getAndDecrement();
            if (before == 1) {
                heldCount.decrementAndGet();
            } else if (before == 0) {
                count.getAndIncrement();
                throw new IllegalStateException("a demand was released more often than it was held");
            }
        }

        @Override
        public void dueAt(long deadlineNs) {
            dueNs = deadlineNs;
            keptNs = NONE; // named again, it counts again
            if (deadlineNs != NONE && count.get() > 0) {
                listener.onDue(deadlineNs);
            }
        }

        @Override
        public void polledAside() {
            POLLS.setOpaque(this, (int) POLLS.getOpaque(this) + 1);
        }

        boolean wasPolledAside() {
            int before = pollsSeen;
            pollsSeen = (int) POLLS.getOpaque(this);
            return pollsSeen != before || count.get() <= 0;
        }

        @Override
        public void close() {
            forget(this);
            if (count.getAndSet(CLOSED) > 0) {
                heldCount.decrementAndGet();
            }
        }

        private static VarHandle pollsHandle() {
            try {
                return MethodHandles.lookup().findVarHandle(Held.class, "polls", int.class);
            } catch (ReflectiveOperationException e) {
                throw new ExceptionInInitializerError(e);
            }
        }

        private boolean isDue(long deadlineNs) {
            return deadlineNs != NONE && deadlineNs != keptNs && count.get() > 0;
        }

        long leftNs(long nowNs) {
            long deadlineNs = dueNs;
            if (!isDue(deadlineNs)) {
                return NONE;
            }
            long leftNs = deadlineNs - nowNs;
            if (leftNs <= 0) {
                keptNs = deadlineNs;
            }
            return leftNs;
        }

        boolean isDueBefore(long timeNs) {
            long deadlineNs = dueNs;
            return isDue(deadlineNs) && deadlineNs - timeNs < 0;
        }
    }
}
