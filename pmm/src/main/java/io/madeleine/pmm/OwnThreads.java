package io.madeleine.pmm;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/**
 * The session's own threads. One at a time is on duty ({@link ProgressThread}); if a handler keeps that one, another takes its
 * place, so that the handlers of other channels are called though no thread of the user leads. Who comes back from
 * its handler then stands by.
 *
 * <p>Threading: thread-safe; {@link #relieve} by the thread on duty alone.
 */
final class OwnThreads {
    private final IntFunction<ProgressThread> maker;
    private final Queue<ProgressThread> standingBy = new ConcurrentLinkedQueue<>();
    private volatile ProgressThread onDuty;
    private int made; // by the thread on duty

    /**
     * One thread, which is on duty and not started.
     *
     * @param maker makes the one of that number
     */
    OwnThreads(IntFunction<ProgressThread> maker) {
        this.maker = maker;
        this.onDuty = maker.apply(made++);
    }

    ProgressThread onDuty() {
        return onDuty;
    }

    boolean isOnDuty(Thread thread) {
        return onDuty == thread;
    }

    /** The caller, which is on duty, is kept by a handler: from now on another is. */
    void relieve() {
        ProgressThread next = standingBy.poll();
        boolean isNew = next == null;
        if (next == null) {
            next = maker.apply(made++);
        }
        onDuty = next; // and then it looks whether there is demand
        if (isNew) {
            next.start();
        } else {
            next.wake();
        }
    }

    /** The thread, which has been relieved, is to be on duty again when another is kept. */
    void standBy(ProgressThread thread) {
        standingBy.add(thread);
    }

    /** Ends all but those whose handlers do not return, which end then. */
    void end() {
        onDuty.end();
        for (@Nullable ProgressThread thread = standingBy.poll(); thread != null; thread = standingBy.poll()) {
            thread.end();
        }
    }
}
