package io.madeleine.pmm;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/**
 * The session's own threads. One at a time is on duty ({@link ProgressThread}). If a handler keeps it, another one
 * takes its place, so that handlers of other channels run even if no thread of the user leads. The relieved thread
 * stands by after its handler has returned.
 *
 * <p>Threading: thread-safe; only the thread on duty calls {@link #relieve}.
 */
final class ProgressThreads {
    private final IntFunction<ProgressThread> maker;
    private final Queue<ProgressThread> standingBy = new ConcurrentLinkedQueue<>();
    private volatile ProgressThread onDuty;
    private int made; // written by the thread on duty

    /**
     * Makes the first thread, which is on duty and not yet started.
     *
     * @param maker makes the thread of a given number
     */
    ProgressThreads(IntFunction<ProgressThread> maker) {
        this.maker = maker;
        this.onDuty = maker.apply(made++);
    }

    ProgressThread onDuty() {
        return onDuty;
    }

    boolean isOnDuty(Thread thread) {
        return onDuty == thread;
    }

    /** The caller, which is on duty, is kept by a handler: another thread is on duty from now on. */
    void relieve() {
        ProgressThread next = standingBy.poll();
        boolean isNew = next == null;
        if (next == null) {
            next = maker.apply(made++);
        }
        onDuty = next; // before the new thread runs: it then checks whether there is demand
        if (isNew) {
            next.start();
        } else {
            next.wake();
        }
    }

    /** A relieved thread stands by for the next time that a handler keeps the one on duty. */
    void standBy(ProgressThread thread) {
        standingBy.add(thread);
    }

    /** Ends all threads; one whose handler does not return ends when it does. */
    void end() {
        onDuty.end();
        for (@Nullable ProgressThread thread = standingBy.poll(); thread != null; thread = standingBy.poll()) {
            thread.end();
        }
    }
}
