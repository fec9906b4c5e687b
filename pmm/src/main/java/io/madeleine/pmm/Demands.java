package io.madeleine.pmm;

import io.madeleine.pmm.spi.Demand;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The demands of a session's adapters: whether one is held, and when the next poll is due.
 *
 * <p>No deadline is slept over: who names one writes it and then looks whether somebody sleeps past it; who is about to sleep
 * says so and then looks at the deadlines.
 *
 * <p>Threading: thread-safe; {@link #untilNextNs} is the leader's.
 */
public final class Demands {
    /** Deadlines that have passed bring about a poll no more often than that: a source that names such all the time is no busy loop. */
    static final long SHORTEST_PAUSE_NS = 100_000;

    private final AtomicInteger heldCount = new AtomicInteger();
    private volatile Held[] all = {};
    private volatile Listener listener = new Listener() {};
    private long hastenedNs = System.nanoTime() - SHORTEST_PAUSE_NS;

    /** Hears of what the adapters demand; any thread. */
    public interface Listener {
        /** A demand is held that was not. */
        default void onHeld() {}

        /** A demand that is held is to be polled by that time. */
        default void onDue(long deadlineNs) {}
    }

    /** No demands yet. */
    public Demands() {}

    /** A demand of one adapter, which is not held. */
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

    /** Tells this listener from now on, in place of another. */
    public void listen(Listener wanted) {
        listener = wanted;
        if (isHeld()) {
            wanted.onHeld();
        }
    }

    /** Whether any is held. */
    public boolean isHeld() {
        return heldCount.get() > 0;
    }

    /**
     * For how long nobody need poll, in nanoseconds; {@link Demand#NONE} if for as long as it takes. A deadline that has passed is taken for
     * kept: a poll follows, at once if the answer is 0.
     */
    public long untilNextNs(long nowNs) {
        long leftNs = Demand.NONE;
        for (Held each : all) {
            leftNs = Math.min(leftNs, each.leftNs(nowNs));
        }
        if (leftNs > 0) {
            return leftNs;
        }
        long pauseNs = SHORTEST_PAUSE_NS - (nowNs - hastenedNs);
        if (pauseNs > 0) {
            return pauseNs;
        }
        hastenedNs = nowNs;
        return 0;
    }

    /** Whether somebody is to be polled before that time. */
    boolean isDueBefore(long timeNs) {
        for (Held each : all) {
            if (each.isDueBefore(timeNs)) {
                return true;
            }
        }
        return false;
    }

    /** One adapter's. */
    private final class Held implements Demand {
        /** Of one that is closed; however often that is held, it is not held. */
        private static final int CLOSED = Integer.MIN_VALUE / 2;

        private final AtomicInteger count = new AtomicInteger();
        private volatile long dueNs = NONE;
        private volatile long keptNs = NONE; // written by the leader

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
            if (deadlineNs != NONE && count.get() > 0) {
                listener.onDue(deadlineNs);
            }
        }

        @Override
        public void close() {
            forget(this);
            if (count.getAndSet(CLOSED) > 0) {
                heldCount.decrementAndGet();
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
