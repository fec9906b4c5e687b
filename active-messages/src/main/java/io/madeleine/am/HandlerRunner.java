package io.madeleine.am;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Runs handlers one after the other, in whichever thread brings something for them: what comes while one runs is left behind, and
 * the thread that runs it does that next. So nobody waits for handlers, and none is interrupted by another one, not even by what it
 * brings about itself.
 *
 * <p>Threading: thread-safe.
 */
public final class HandlerRunner {
    private static final long NOBODY = -1;

    private final Consumer<Throwable> onFailure;

    /** The id of the thread that runs handlers, not the thread: storing a reference costs a fence under some collectors. */
    private final AtomicLong runner = new AtomicLong(NOBODY);

    private final Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();

    /** The last one first: to post one takes no memory. */
    private final AtomicReference<@Nullable Step> steps = new AtomicReference<>();

    /** What something that was begun does next, any number of times. To post it takes no memory. */
    public abstract static class Step {
        private final AtomicBoolean posted = new AtomicBoolean();
        private @Nullable Step next;

        /** Nothing is posted. */
        protected Step() {}

        /** Runs as a handler does. It may be posted again from now on. */
        protected abstract void run();

        private @Nullable Step leave() {
            Step behind = next;
            next = null;
            posted.set(false);
            return behind;
        }
    }

    /**
     * Nothing is posted.
     *
     * @param onFailure is given what a task or a step throws; it throws nothing
     */
    public HandlerRunner(Consumer<Throwable> onFailure) {
        this.onFailure = onFailure;
    }

    /** Whether the calling thread is running a handler, and must not wait. */
    public boolean isRunByCaller() {
        return runner.get() == Thread.currentThread().threadId();
    }

    /**
     * Makes the calling thread the one that runs handlers, until it calls {@link #leave}; false if there is one, the caller perhaps.
     * What was posted before comes first: {@link #runPosted} follows.
     */
    public boolean tryEnter() {
        long self = Thread.currentThread().threadId();
        return runner.get() != self && runner.compareAndSet(NOBODY, self);
    }

    /**
     * Runs what is posted; from the thread that has entered.
     *
     * @return whether there was anything
     */
    public boolean runPosted() {
        if (!isPosted()) {
            return false;
        }
        Step next;
        for (Step step = steps.getAndSet(null); step != null; step = next) {
            next = step.leave(); // which may stand here again when it has run
            run(null, step);
        }
        for (Runnable task = tasks.poll(); task != null; task = tasks.poll()) {
            run(task, null);
        }
        return true;
    }

    /** The calling thread has run its handler; it goes on with what was left behind meanwhile. */
    public void leave() {
        runner.set(NOBODY);
        if (isPosted()) {
            enterAndRunPosted();
        }
    }

    /** Runs something as handlers are run: now, or when the thread that runs one comes to it. */
    public void post(Runnable task) {
        tasks.add(task);
        posted();
    }

    /** As {@link #post(Runnable)}; nothing more if it is posted and has not begun to run yet. */
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

    /** What one of them throws is not the others', nor is the interrupt status that it leaves. */
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
