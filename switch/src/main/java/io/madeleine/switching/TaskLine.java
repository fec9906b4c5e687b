package io.madeleine.switching;

import io.madeleine.api.SendTask;
import io.madeleine.pmm.ProgressEngine;
import io.madeleine.pmm.SpinLock;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * The send tasks of a connection, first come, first served. Together they have one place among the threads that wait to send: when
 * its turn has come the first task runs, and if others are left the place is the last again.
 *
 * <p>None is forgotten: who schedules a task takes the place first and looks then whether the connection is free; who frees it
 * frees it first and looks then who is the first that waits. One of the two sees the other, and marks this as ready.
 *
 * <p>Threading: thread-safe; {@link #runFirst} by who runs the channel's tasks, one thread at a time ({@link TaskRunner}).
 */
final class TaskLine {
    private final SendHalf half;
    private final TurnQueue queue;
    private final TaskRunner runner;
    private final ProgressEngine engine;
    private final SpinLock lock = new SpinLock();
    private final AtomicBoolean ready = new AtomicBoolean();

    /** Made with the first task. */
    private TurnQueue.@Nullable Place place;

    private boolean inTurnQueue;
    private boolean running;
    private @Nullable ScheduledTask first;
    private @Nullable ScheduledTask last;
    private volatile boolean hasTasks;

    TaskLine(SendHalf half, TurnQueue queue, TaskRunner runner, ProgressEngine engine) {
        this.half = half;
        this.queue = queue;
        this.runner = runner;
        this.engine = engine;
    }

    SendTask newTask(Runnable action) {
        runner.start();
        lock.lock();
        try {
            if (place == null) {
                place = queue.newPlace(this);
            }
        } finally {
            lock.unlock();
        }
        return new ScheduledTask(this, action);
    }

    /** Whether a task waits, or runs. */
    boolean hasTasks() {
        return hasTasks;
    }

    // ---- scheduling

    void schedule(ScheduledTask task) {
        half.throwIfLost();
        engine.raiseDemand(); // until it has run: somebody has to, though nobody waits for that
        if (!add(task)) {
            engine.lowerDemand();
            return;
        }
        half.prepareToWait();
        if (isDue()) {
            markReady();
            runner.run();
        }
    }

    /** Adds it at the end, unless it is scheduled already. */
    private boolean add(ScheduledTask task) {
        lock.lock();
        try {
            if (task.scheduled) {
                return false;
            }
            task.before = last;
            if (last == null) {
                first = task;
            } else {
                last.behind = task;
            }
            last = task;
            task.scheduled = true;
            hasTasks = true;
            joinTurnQueue();
            return true;
        } finally {
            lock.unlock();
        }
    }

    boolean cancel(ScheduledTask task) {
        boolean hasLeft;
        lock.lock();
        try {
            if (!task.scheduled) {
                return false;
            }
            remove(task);
            hasLeft = first == null && leaveTurnQueue();
        } finally {
            lock.unlock();
        }
        engine.lowerDemand();
        if (hasLeft) {
            half.turnMayBeNext();
        }
        return true;
    }

    // ---- with the lock

    private void remove(ScheduledTask task) {
        ScheduledTask before = task.before;
        ScheduledTask behind = task.behind;
        if (before == null) {
            first = behind;
        } else {
            before.behind = behind;
        }
        if (behind == null) {
            last = before;
        } else {
            behind.before = before;
        }
        task.before = null;
        task.behind = null;
        task.scheduled = false;
        hasTasks = first != null || running;
    }

    private void joinTurnQueue() {
        if (!inTurnQueue && !running && place != null) {
            queue.join(place);
            inTurnQueue = true;
        }
    }

    private boolean leaveTurnQueue() {
        if (!inTurnQueue || place == null) {
            return false;
        }
        queue.remove(place);
        inTurnQueue = false;
        return true;
    }

    // ---- running

    /** Whether the first task's turn may have come. */
    boolean isDue() {
        if (!hasTasks) {
            return false;
        }
        TurnQueue.Place own = place; // there is one since there has been a task
        return half.isLost() || (own != null && queue.isFirst(own) && half.isFree());
    }

    /** The turn may have come: {@link #runFirst} is called, once, by whoever runs tasks next. */
    void markReady() {
        if (!ready.getAndSet(true)) {
            runner.add(this);
        }
    }

    /** Runs the first task if its turn has come; returns whether it has. */
    boolean runFirst() {
        boolean _ = ready.getAndSet(false); // before looking
        TurnQueue.Place own = place;
        if (own == null) {
            return false;
        }
        boolean claims = !half.isLost();
        if (claims && !half.claim(own)) {
            return false; // who has the connection, or is before, tells when that is over
        }
        ScheduledTask task = takeFirst();
        try {
            if (task != null) {
                runner.run(task.action);
            }
        } finally {
            if (task != null) {
                finishRun();
            }
            if (claims) {
                half.releaseClaim();
            }
        }
        if (isDue()) {
            markReady();
        }
        return task != null;
    }

    private @Nullable ScheduledTask takeFirst() {
        lock.lock();
        try {
            ScheduledTask task = first;
            if (task != null) {
                running = true;
                boolean _ = leaveTurnQueue();
                remove(task);
            }
            return task;
        } finally {
            lock.unlock();
        }
    }

    private void finishRun() {
        boolean others;
        lock.lock();
        try {
            running = false;
            others = first != null;
            hasTasks = others;
            if (others) {
                joinTurnQueue();
            }
        } finally {
            lock.unlock();
        }
        if (others) {
            half.prepareToWait();
        }
        engine.lowerDemand();
    }
}
