package io.madeleine.nexus;

import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.Executor;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The call of another process that the current thread executes. Calls that the thread makes meanwhile inherit the
 * deadline of this call and are cancelled with it.
 *
 * <p>Other threads that work for the call must be told of it: {@link #wrap(Executor)} does so for all tasks of an
 * executor, {@link #wrap(Runnable)} for one task. They are interrupted together with the first thread.
 *
 * <p>Threading: thread-safe.
 */
public final class RemoteCall {
    private static final ScopedValue<RemoteCall> CURRENT = ScopedValue.newInstance();

    private final int caller;
    private final long deadlineNs;
    private final Method method;
    private final boolean hasMetadata;
    private volatile Metadata metadata = Metadata.EMPTY;
    private volatile Metadata answerMetadata = Metadata.EMPTY;

    /** The threads that work for the call now, as a linked list. */
    private @Nullable Worker workers;

    private @Nullable List<Runnable> cancelActions;
    private volatile boolean cancelled;

    /** A thread that works for the call. */
    private static final class Worker {
        private final Thread thread;
        private @Nullable Worker next;
        private boolean interrupted;

        Worker(Thread thread, @Nullable Worker next) {
            this.thread = thread;
            this.next = next;
        }

        void interrupt() {
            interrupted = true;
            thread.interrupt();
        }
    }

    RemoteCall(int caller, long deadlineNs, Method method, boolean hasMetadata) {
        this.caller = caller;
        this.deadlineNs = deadlineNs;
        this.method = method;
        this.hasMetadata = hasMetadata;
    }

    /** The call that this thread executes, if any. */
    public static Optional<RemoteCall> current() {
        return Optional.ofNullable(currentOrNull());
    }

    static @Nullable RemoteCall currentOrNull() {
        return CURRENT.isBound() ? CURRENT.get() : null;
    }

    /**
     * The earlier of {@code unless} and the deadline of the call that this thread executes, in {@link System#nanoTime}
     * terms.
     */
    static long inheritedDeadlineNs(long unless) {
        if (!CURRENT.isBound()) {
            return unless;
        }
        long inherited = CURRENT.get().deadlineNs;
        return inherited - unless < 0 ? inherited : unless;
    }

    // ---- for other threads

    /**
     * Wraps a task so that it runs as part of the call that the current thread executes, whichever thread runs it.
     * Returns the task itself if there is no call.
     */
    public static Runnable wrap(Runnable task) {
        Objects.requireNonNull(task, "task");
        RemoteCall call = currentOrNull();
        return call == null ? task : () -> call.run(task);
    }

    /** As {@link #wrap(Runnable)}. */
    public static <T> Callable<T> wrap(Callable<T> task) {
        Objects.requireNonNull(task, "task");
        RemoteCall call = currentOrNull();
        return call == null ? task : () -> call.call(task::call);
    }

    /** As {@link #wrap(Runnable)}. */
    public static <T> Supplier<T> wrapSupplier(Supplier<T> task) {
        Objects.requireNonNull(task, "task");
        RemoteCall call = currentOrNull();
        return call == null ? task : () -> call.<T, RuntimeException>call(task::get);
    }

    /**
     * Wraps an executor so that each task runs as part of the call that the submitting thread executes; for {@code
     * CompletableFuture.supplyAsync}, for instance.
     */
    public static Executor wrap(Executor executor) {
        Objects.requireNonNull(executor, "executor");
        return task -> executor.execute(wrap(task));
    }

    // ---- properties of the call

    /** The caller's node: a rank, or the number of a context of another session. */
    public int caller() {
        return caller;
    }

    /** The method of the service's interface that is called. */
    public Method method() {
        return method;
    }

    /** The metadata that came with the call; calls that are made for it do not inherit them. */
    public Metadata metadata() {
        return metadata;
    }

    /** Takes the metadata, with which the request begins. */
    void readMetadata(Request request) {
        if (hasMetadata) {
            metadata = Metadata.read(request);
        }
    }

    /**
     * Adds an entry to the metadata of the answer, or, if the result is a stream, of its end.
     *
     * @throws IllegalArgumentException if the metadata become too long
     */
    public synchronized void answerWith(String name, String value) {
        answerMetadata = answerMetadata.with(name, value);
    }

    Metadata answerMetadata() {
        return answerMetadata;
    }

    /** The time until the deadline, in nanoseconds; 0 or less if it has passed. */
    public long remainingNs() {
        return deadlineNs - System.nanoTime();
    }

    long deadlineNs() {
        return deadlineNs;
    }

    /**
     * Whether the call is cancelled: its caller has cancelled it or is gone, its deadline has passed, or the context is
     * being closed. The threads that work for it have been interrupted.
     */
    public boolean isCancelled() {
        return cancelled;
    }

    /**
     * Registers an action that runs in a thread of its own if the call is cancelled before it ends; at once, if it is
     * cancelled already. For implementations during which no thread works that an interrupt could reach.
     */
    public void onCancel(Runnable action) {
        Objects.requireNonNull(action, "action");
        synchronized (this) {
            if (!cancelled) {
                if (cancelActions == null) {
                    cancelActions = new ArrayList<>();
                }
                cancelActions.add(action);
                return;
            }
        }
        Thread.startVirtualThread(action);
    }

    /** Removes an action that is not needed any more. */
    synchronized void forget(Runnable action) {
        if (cancelActions != null) {
            cancelActions.remove(action);
        }
    }

    // ---- execution

    /** Runs a task as part of this call; clears an interrupt that was meant for the call when the task ends. */
    void run(Runnable task) {
        this.<@Nullable Void, RuntimeException>call(() -> {
            task.run();
            return null;
        });
    }

    /** As {@link #run}, with a result. */
    <T extends @Nullable Object, X extends Throwable> T call(ScopedValue.CallableOp<T, X> task) throws X {
        if (currentOrNull() == this) {
            return task.call();
        }
        Worker worker = enter();
        try {
            return ScopedValue.where(CURRENT, this).call(task);
        } finally {
            leave(worker);
        }
    }

    private synchronized Worker enter() {
        Worker worker = new Worker(Thread.currentThread(), workers);
        workers = worker;
        if (cancelled) {
            worker.interrupt();
        }
        return worker;
    }

    private synchronized void leave(Worker left) {
        if (workers == left) {
            workers = left.next;
        } else {
            Worker before = workers;
            while (before != null && before.next != left) {
                before = before.next;
            }
            if (before != null) {
                before.next = left.next;
            }
        }
        if (left.interrupted) {
            boolean _ = Thread.interrupted();
        }
    }

    /** Interrupts the threads that work for the call and runs the actions, each in a thread of its own. Idempotent. */
    void cancel() {
        List<Runnable> actions;
        synchronized (this) {
            if (cancelled) {
                return;
            }
            cancelled = true;
            for (Worker each = workers; each != null; each = each.next) {
                each.interrupt();
            }
            actions = cancelActions;
            cancelActions = null;
        }
        if (actions != null) {
            for (Runnable action : actions) {
                Thread.startVirtualThread(action);
            }
        }
    }
}
