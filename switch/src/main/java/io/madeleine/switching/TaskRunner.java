package io.madeleine.switching;

import io.madeleine.pmm.ArrivalQueue;
import io.madeleine.pmm.Dispatcher;
import io.madeleine.pmm.FailureLog;
import io.madeleine.pmm.ProgressEngine;
import io.madeleine.pmm.StackRoom;
import org.jspecify.annotations.Nullable;

/**
 * Runs the send tasks of a channel, one after the other: by the thread that has freed a connection, unless it is in a handler or
 * another task, is virtual, or near the end of its stack; else by whoever leads, after its polls.
 *
 * <p>Threading: thread-safe; the {@link Dispatcher} lets one thread run tasks at a time.
 */
final class TaskRunner {
    /** A thread that sends for itself does no more for others; the leader goes on with its round. */
    private static final int MOST_AT_ONCE = 16;

    private final FailureLog failures = new FailureLog(System.getLogger("io.madeleine.switching"));
    private final SwitchedChannel channel;
    private final ProgressEngine engine;

    /** The connections whose turn may have come. */
    private final ArrivalQueue<TaskLine> ready;

    private volatile @Nullable Dispatcher dispatcher;

    TaskRunner(SwitchedChannel channel, int connections) {
        this.channel = channel;
        this.engine = channel.engine();
        this.ready = new ArrivalQueue<>(connections);
    }

    /** There are going to be tasks. */
    synchronized void start() {
        if (dispatcher == null) {
            dispatcher = engine.addDispatcher(
                    "channel " + channel.name() + " (a send task)", this::dispatch, () -> !ready.isEmpty());
        }
    }

    void add(TaskLine line) {
        ready.add(line);
    }

    /** Runs what is ready in the calling thread if that may be, or has it run soon. */
    void run() {
        Dispatcher started = dispatcher;
        if (started != null) {
            engine.dispatch(started, StackRoom.hasPlenty());
        }
    }

    /** Has what is ready run soon, by whoever leads. */
    void leaveToLeader() {
        Dispatcher started = dispatcher;
        if (started != null) {
            engine.dispatch(started, false);
        }
    }

    /** Runs all that is ready, when nobody leads any more. */
    void runRest() {
        Dispatcher started = dispatcher;
        if (started != null) {
            engine.dispatchRest(started);
        }
    }

    private int dispatch() {
        Dispatcher within = dispatcher;
        int count = 0;
        for (int i = 0; i < MOST_AT_ONCE && (within == null || !within.hasLetGo()); i++) {
            TaskLine line = ready.poll();
            if (line == null) {
                break;
            }
            count += line.runFirst() ? 1 : 0;
        }
        return count;
    }

    /** Runs an action; the thread that happens to do so is not to blame for what it throws. */
    void run(Runnable action) {
        boolean wasInterrupted = Thread.interrupted();
        try {
            action.run();
        } catch (Throwable e) {
            failures.error("a send task of channel " + channel.name() + " failed", e);
        } finally {
            engine.afterUsersCode(wasInterrupted);
        }
    }
}
