package io.madeleine.switching;

import io.madeleine.pmm.ArrivalQueue;
import io.madeleine.pmm.Dispatcher;
import io.madeleine.pmm.FailureLog;
import io.madeleine.pmm.ProgressEngine;
import io.madeleine.pmm.StackRoom;
import org.jspecify.annotations.Nullable;

/**
 * Runs the send tasks of a channel, one after the other. The thread that frees a connection runs them, unless it is
 * virtual, in a handler, in another task, or near the end of its stack; then the leader runs them after its polls.
 *
 * <p>Threading: thread-safe; the {@link Dispatcher} lets one thread run tasks at a time.
 */
final class TaskRunner {
    /**
     * The most tasks in one go: after that, a sending thread returns to its own work and the leader continues its
     * round.
     */
    private static final int MOST_AT_ONCE = 16;

    private final FailureLog failures = new FailureLog(System.getLogger("io.madeleine.switching"));
    private final String channel;
    private final ProgressEngine engine;

    /** The connections whose first task may have its turn. */
    private final ArrivalQueue<TaskLine> ready;

    private volatile @Nullable Dispatcher dispatcher;

    /** Creates the runner of the channel with this name. */
    TaskRunner(String channel, ProgressEngine engine, int connections) {
        this.channel = channel;
        this.engine = engine;
        this.ready = new ArrivalQueue<>(connections);
    }

    /** Registers the dispatcher; called before the first task. */
    synchronized void start() {
        if (dispatcher == null) {
            dispatcher = engine.addDispatcher(
                    "channel " + channel + " (a send task)", this::dispatch, () -> !ready.isEmpty());
        }
    }

    void add(TaskLine line) {
        ready.add(line);
    }

    /** Runs the ready tasks in the calling thread if it may; otherwise the leader runs them soon. */
    void run() {
        Dispatcher started = dispatcher;
        if (started != null) {
            engine.dispatch(started, StackRoom.hasPlenty());
        }
    }

    /** Leaves the ready tasks to the leader. */
    void leaveToLeader() {
        Dispatcher started = dispatcher;
        if (started != null) {
            engine.dispatch(started, false);
        }
    }

    /** Runs all ready tasks, when no thread leads any more. */
    void runRest() {
        Dispatcher started = dispatcher;
        if (started != null) {
            engine.dispatchRest(started);
        }
    }

    private int dispatch() {
        Dispatcher within = dispatcher;
        int count = 0;
        for (int i = 0; i < MOST_AT_ONCE && (within == null || !within.hasReleasedLead()); i++) {
            TaskLine line = ready.poll();
            if (line == null) {
                break;
            }
            count += line.runFirst() ? 1 : 0;
        }
        return count;
    }

    /** Runs an action and logs what it throws: the calling thread did not cause it. */
    void run(Runnable action) {
        boolean wasInterrupted = Thread.interrupted();
        try {
            action.run();
        } catch (Throwable e) {
            failures.error("a send task of channel " + channel + " failed", e);
        } finally {
            engine.afterUsersCode(wasInterrupted);
        }
    }
}
