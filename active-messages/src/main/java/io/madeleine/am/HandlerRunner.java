package io.madeleine.am;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Runs handlers one at a time, in the thread that posts a task. If a handler is running, the task is queued, and the
 * thread that runs the handler runs the task next. So no thread waits for handlers, and no handler is interrupted by
 * another one, not even by one that it causes itself.
 *
 * <p>Threading: thread-safe.
 */
public final class HandlerRunner {
    private static final long NOBODY = -1;

    private final Consumer<Throwable> onFailure;

    /**
     * The id of the thread that runs handlers. Not a reference to the thread: storing one costs a fence with some
     * collectors.
     */
    private final AtomicLong runner = new AtomicLong(NOBODY);

    private final Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();

    /** A stack of posted steps, linked through the steps, so that posting allocates nothing. */
    private final AtomicReference<@Nullable Step> steps = new AtomicReference<>();

    /** The next step of an operation, which may be posted any number of times. Posting it allocates nothing. */
    public abstract static class Step {
        private final AtomicBoolean posted = new AtomicBoolean();
        private @Nullable Step next;

        /** A step that is not posted. */
        protected Step() {}

        /** Runs like a handler. The step may be posted again from now on. */
        protected abstract void run();

        private @Nullable Step leave() {
            Step behind = next;
            next = null;
            posted.set(false);
            return behind;
        }
    }

    /**
     * A runner without posted tasks.
     *
     * @param onFailure receives what a task or a step throws; must not throw
     */
    public HandlerRunner(Consumer<Throwable> onFailure) {
        this.onFailure = onFailure;
    }

    /** Whether no thread runs handlers at this moment. */
    public boolean isFree() {
        return runner.get() == NOBODY;
    }

    /** Whether the calling thread is running a handler, and so must not wait. */
    public boolean isRunByCaller() {
        return runner.get() == Thread.currentThread().threadId();
    }

    /**
     * Makes the calling thread the one that runs handlers until it calls {@link #leave}; returns false if there is one
     * already, possibly the caller. Tasks that were posted before come first: the caller calls {@link #runPosted} next.
     */
    public boolean tryEnter() {
        long self = Thread.currentThread().threadId();
        return runner.get() != self && runner.compareAndSet(NOBODY, self);
    }

    /**
     * Runs what is posted; called by the thread that has entered.
     *
     * @return whether there was anything
     */
    public boolean runPosted() {
        if (!isPosted()) {
            return false;
        }
        Step next;
        for (Step step = steps.getAndSet(null); step != null; step = next) {
            next = step.leave(); // before run(): the step may be posted again by then
            boolean ran = false;
            try {
                run(null, step);
                ran = true;
            } finally {
                if (!ran && next != null) { // stack overflow, for instance: the next caller runs the rest
                    putBack(next);
                }
            }
        }
        for (Runnable task = tasks.poll(); task != null; task = tasks.poll()) {
            run(task, null);
        }
        return true;
    }

    private void putBack(Step first) {
        Step last = first;
        while (last.next != null) {
            last = last.next;
        }
        Step before;
        do {
            before = steps.get();
            last.next = before;
        } while (!steps.compareAndSet(before, first));
    }

    /** The calling thread has run its handler; it then runs what was posted meanwhile. */
    public void leave() {
        runner.set(NOBODY);
        if (isPosted()) {
            enterAndRunPosted();
        }
    }

    /** Runs a task as a handler: now, or after the handler that runs at present. */
    public void post(Runnable task) {
        tasks.add(task);
        posted();
    }

    /** As {@link #post(Runnable)}; does nothing if the step is posted and has not begun to run. */
    public void post(Step step) {
        if (!step.posted.compareAndSet(false, true)) {
            return;
        }
        Step next;
        do {
            next = steps.get();
            step.next = next;
        } while (!steps.compareAndSet(next, step));
        posted();
    }

    private void posted() {
        if (!isRunByCaller()) {
            enterAndRunPosted();
        }
    }

    private boolean isPosted() {
        return !tasks.isEmpty() || steps.get() != null;
    }

    private void enterAndRunPosted() {
        long self = Thread.currentThread().threadId();
        while (isPosted() && runner.compareAndSet(NOBODY, self)) {
            try {
                runPosted();
            } finally {
                runner.set(NOBODY);
            }
        }
    }

    /** Isolates a task from the others: from its exceptions, and from the interrupt status that it leaves. */
    private void run(@Nullable Runnable task, @Nullable Step step) {
        boolean wasInterrupted = Thread.interrupted();
        try {
            if (task != null) {
                task.run();
            } else if (step != null) {
                step.run();
            }
        } catch (Throwable e) {
            onFailure.accept(e);
        } finally {
            if (wasInterrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
