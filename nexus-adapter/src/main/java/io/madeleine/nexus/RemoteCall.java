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
 * The call that the current thread carries out for another process. Calls that it makes itself inherit the deadline, and are
 * given up with it.
 *
 * <p>Other threads that work for the call know of it only if they are told: {@link #wrap(Executor)} does that for all tasks of
 * an executor, {@link #wrap(Runnable)} for one. They are interrupted as the first thread is.
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

    /** The threads that work for it now. */
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

    /** The call that this thread carries out, if it does. */
    public static Optional<RemoteCall> current() {
        return Optional.ofNullable(currentOrNull());
    }

    static @Nullable RemoteCall currentOrNull() {
        return CURRENT.isBound() ? CURRENT.get() : null;
    }

    /** The deadline that calls of this thread inherit, in {@link System#nanoTime} terms; otherwise {@code unless}. */
    static long inheritedDeadlineNs(long unless) {
        if (!CURRENT.isBound()) {
            return unless;
        }
        long inherited = CURRENT.get().deadlineNs;
        return inherited - unless < 0 ? inherited : unless;
    }

    // ---- for other threads

    /** The task, as part of the call that this thread carries out now, whichever thread runs it; itself if there is no call. */
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
     * An executor whose tasks are each part of the call that was carried out by the thread that gave it, for
     * {@code CompletableFuture.supplyAsync} for instance.
     */
    public static Executor wrap(Executor executor) {
        Objects.requireNonNull(executor, "executor");
        return task -> executor.execute(wrap(task));
    }

    // ---- what it is

    /** The rank of the caller. */
    public int caller() {
        return caller;
    }

    /** The method of the service's interface that is called. */
    public Method method() {
        return method;
    }

    /** What has travelled with the call; calls that are made for it do not inherit that. */
    public Metadata metadata() {
        return metadata;
    }

    /** Takes what the request begins with. */
    void readMetadata(Request request) {
        if (hasMetadata) {
            metadata = Metadata.read(request);
        }
    }

    /**
     * Adds to what travels with the answer, or with the end of the stream that is the result.
     *
     * @throws IllegalArgumentException if it is too long together
     */
    public synchronized void answerWith(String name, String value) {
        answerMetadata = answerMetadata.with(name, value);
    }

    Metadata answerMetadata() {
        return answerMetadata;
    }

    /** How much time is left, in nanoseconds; 0 or less when nobody waits for the result any more. */
    public long remainingNs() {
        return deadlineNs - System.nanoTime();
    }

    long deadlineNs() {
        return deadlineNs;
    }

    /** Whether the caller has given up, is gone, or its deadline has passed; the threads are interrupted then as well. */
    public boolean isCancelled() {
        return cancelled;
    }

    /**
     * Has the action run, by a thread of its own, if the call is cancelled before it is over; at once if it is cancelled already.
     * For implementations that no thread works for, which an interrupt would tell.
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

    /** What an action was for is over. */
    synchronized void forget(Runnable action) {
        if (cancelActions != null) {
            cancelActions.remove(action);
        }
    }

    // ---- how it is carried out

    /** Runs a task as part of this call; an interrupt that is meant for the call ends with it. */
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

    /** Interrupts who works for it, and has the actions run; once. */
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
