package io.madeleine.switching;

import io.madeleine.api.SendTask;
import io.madeleine.pmm.ProgressEngine;
import io.madeleine.pmm.SpinLock;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * The queue of a connection's send tasks, in the order of scheduling. All tasks together occupy one place in the
 * {@link SendLockQueue}. When that place has its turn, the first task runs; if tasks remain, the place goes to the end
 * of the line.
 *
 * <p>No task is lost: a thread that schedules a task joins the line first and then checks whether the connection is
 * free; a thread that frees the connection frees it first and then checks who is first in line. At least one of the two
 * sees the other, and marks this queue as ready.
 *
 * <p>Threading: thread-safe; one thread at a time calls {@link #runFirst}, the one that runs the channel's tasks
 * ({@link TaskRunner}).
 */
final class TaskLine {
    private final SendHalf half;
    private final SendLockQueue queue;
    private final TaskRunner runner;
    private final ProgressEngine engine;
    private final SpinLock lock = new SpinLock();
    private final AtomicBoolean ready = new AtomicBoolean();

    /** Created with the first task. */
    private SendLockQueue.@Nullable Place place;

    private boolean inTurnQueue;
    private boolean running;
    private @Nullable ScheduledTask first;
    private @Nullable ScheduledTask last;
    private volatile boolean hasTasks;

    TaskLine(SendHalf half, SendLockQueue queue, TaskRunner runner, ProgressEngine engine) {
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

    /** Whether a task is waiting or running. */
    boolean hasTasks() {
        return hasTasks;
    }

    // ---- scheduling

    void schedule(ScheduledTask task) {
        half.throwIfLost();
        engine.raiseDemand(); // until the task has run: no thread waits, but progress is needed
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

    /** Appends the task, unless it is scheduled already. */
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
            half.wakeFirstIfFree();
        }
        return true;
    }

    // ---- under the lock

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

    /** Whether the first task may have its turn now. */
    boolean isDue() {
        if (!hasTasks) {
            return false;
        }
        SendLockQueue.Place own = place; // not null: there has been a task
        return half.isLost() || (own != null && queue.isFirst(own) && half.isFree());
    }

    /**
     * Queues this connection with the {@link TaskRunner}, once; the thread that runs tasks next calls
     * {@link #runFirst}.
     */
    void markReady() {
        if (!ready.getAndSet(true)) {
            runner.add(this);
        }
    }

    /**
     * Runs the first task if it has its turn.
     *
     * @return whether a task has run
     */
    boolean runFirst() {
        boolean _ = ready.getAndSet(false); // before the check, so that a later markReady is not lost
        SendLockQueue.Place own = place;
        if (own == null) {
            return false;
        }
        boolean claims = !half.isLost();
        if (claims && !half.claim(own)) {
            return false; // the thread that has the connection, or is before us, will mark us ready again
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
