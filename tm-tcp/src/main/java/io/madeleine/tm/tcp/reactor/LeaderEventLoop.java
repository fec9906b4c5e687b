package io.madeleine.tm.tcp.reactor;

import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelPromise;
import io.netty.channel.DefaultChannelPromise;
import io.netty.channel.IoEventLoop;
import io.netty.channel.IoEventLoopGroup;
import io.netty.channel.IoHandle;
import io.netty.channel.IoHandler;
import io.netty.channel.IoHandlerContext;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.IoRegistration;
import io.netty.util.concurrent.AbstractScheduledEventExecutor;
import io.netty.util.concurrent.DefaultPromise;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.GlobalEventExecutor;
import io.netty.util.concurrent.Promise;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * A Netty event loop without a thread of its own. The thread that calls {@link #runNow} or {@link #runBlocking} runs
 * it and is "in the event loop" meanwhile, one thread at a time. So the loop can move from thread to thread with the
 * lead of the progress engine, which Netty's own {@code ManualIoEventLoop} cannot.
 *
 * <p>Threading: {@link #execute}, {@link #schedule} and {@link #wakeUp} are thread-safe. If several threads run the
 * loop at once, one of them runs it and the others return.
 */
public final class LeaderEventLoop extends AbstractScheduledEventExecutor implements IoEventLoop {
    /** The longest single wait of a native I/O handler, because an interrupt does not end it. */
    private static final long MAX_BLOCKING_NS = 100_000_000;

    /** The pause of a thread that finds another thread in the loop. */
    private static final long BUSY_NS = 50_000;

    private static final int MAX_TASKS_PER_RUN = 4096;

    private final Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();
    private final AtomicReference<@Nullable Thread> driver = new AtomicReference<>();
    private final IoHandler handler;
    private final boolean endsOnInterrupt;
    private final Promise<?> termination = new DefaultPromise<Void>(GlobalEventExecutor.INSTANCE);
    private final Now now = new Now();
    private final Blocking blocking = new Blocking();

    private volatile boolean sleeping;
    private volatile boolean woken;
    private volatile boolean closed;
    private boolean initialized;
    private @Nullable BooleanSupplier mayHandle; // of the thread that runs the loop
    private @Nullable Throwable failure;

    /**
     * Creates a loop over an I/O handler of Netty.
     *
     * @param endsOnInterrupt whether an interrupt ends the handler's wait
     */
    LeaderEventLoop(IoHandlerFactory factory, boolean endsOnInterrupt) {
        this.handler = factory.newHandler(this);
        this.endsOnInterrupt = endsOnInterrupt;
    }

    /**
     * Handles ready events and due tasks without waiting.
     *
     * @return how many were handled; 0 if another thread runs the loop
     */
    int runNow() {
        if (!driver.compareAndSet(null, Thread.currentThread())) {
            return 0;
        }
        Throwable cause;
        int handled;
        try {
            handled = run(now);
        } finally {
            cause = takeFailure();
            driver.set(null);
        }
        rethrow(cause);
        return handled;
    }

    /** As {@link #runNow}, but waits for an event or a task, {@link #wakeUp} or the timeout. */
    int runBlocking(long timeoutNs) {
        return runBlocking(timeoutNs, null);
    }

    /**
     * As {@link #runBlocking(long)}, but asks before it handles events.
     *
     * @param asked if not null, asked after the wait: events are handled only if it returns true, and otherwise left
     *     for the next run. Requires a {@link SelectorIoHandler}
     */
    int runBlocking(long timeoutNs, @Nullable BooleanSupplier asked) {
        Thread self = Thread.currentThread();
        if (!driver.compareAndSet(null, self)) {
            LockSupport.parkNanos(this, Math.min(timeoutNs, BUSY_NS));
            return 0;
        }
        long startNs = System.nanoTime();
        int handled = 0;
        Throwable cause;
        try {
            sleeping = true;
            mayHandle = asked;
            for (boolean first = true;
                    (first || asked == null) && handled == 0 && !woken && !self.isInterrupted();
                    first = false) { // if asked is given, wait once: the caller may have lost the lead
                long leftNs = timeoutNs - (System.nanoTime() - startNs);
                if (leftNs <= 0) {
                    break;
                }
                blocking.maxNs = endsOnInterrupt ? leftNs : Math.min(leftNs, MAX_BLOCKING_NS);
                handled = run(blocking);
            }
        } finally {
            sleeping = false;
            mayHandle = null;
            woken = false; // safe: a caller of wakeUp changes state first, and the engine looks again after each sleep
            cause = takeFailure();
            driver.set(null);
        }
        rethrow(cause);
        return handled;
    }

    /** Ends the current {@link #runBlocking} or, if there is none, the next. */
    void wakeUp() {
        woken = true;
        if (sleeping) {
            handler.wakeup();
        }
    }

    private int run(IoHandlerContext context) {
        if (closed) {
            return 0;
        }
        if (!initialized) {
            initialized = true;
            handler.initialize();
        }
        int handled = handler.run(context);
        return mayHandle() ? handled + runTasks() : 0;
    }

    /** Whether the thread that runs the loop may handle events. Called in the loop. */
    boolean mayHandle() {
        BooleanSupplier asked = mayHandle;
        return asked == null || asked.getAsBoolean();
    }

    private int runTasks() {
        if (tasks.isEmpty() && !hasScheduledTasks()) {
            return 0;
        }
        fetchFromScheduledTaskQueue(tasks);
        int ran = 0;
        for (Runnable task; ran < MAX_TASKS_PER_RUN && (task = tasks.poll()) != null; ran++) {
            safeExecute(task);
        }
        return ran;
    }

    /** Keeps the failure of a handler until the run ends, so that the other events are handled first. */
    public void failed(Throwable cause) {
        if (failure == null) {
            failure = cause;
        } else if (failure != cause) { // the JVM reuses one OutOfMemoryError for all threads
            failure.addSuppressed(cause);
        }
    }

    private @Nullable Throwable takeFailure() {
        Throwable cause = failure;
        failure = null;
        return cause;
    }

    private static void rethrow(@Nullable Throwable cause) {
        switch (cause) {
            case null -> {}
            case RuntimeException e -> throw e;
            case Error e -> throw e;
            default -> throw new IllegalStateException(cause);
        }
    }

    /** Registers a handle. Called in the loop. */
    public IoRegistration registerNow(IoHandle handle) throws Exception {
        return handler.register(handle);
    }

    /**
     * Closes the I/O handler and everything registered with it. Waits for the thread that runs the loop. Idempotent.
     */
    @Override
    public void close() {
        while (!driver.compareAndSet(null, Thread.currentThread())) {
            if (inEventLoop()) {
                throw new IllegalStateException(
                        "a handler or task of this event loop called close(); call it from another thread");
            }
            wakeUp();
            LockSupport.parkNanos(this, BUSY_NS);
        }
        try {
            if (!closed) {
                runTasks();
                cancelScheduledTasks();
                handler.prepareToDestroy();
                closed = true;
                runTasks();
                handler.destroy();
                termination.setSuccess(null);
            }
        } finally {
            driver.set(null);
        }
    }

    @Override
    public boolean inEventLoop(Thread thread) {
        return driver.get() == thread;
    }

    @Override
    public void execute(Runnable task) {
        if (closed) {
            throw new RejectedExecutionException("the event loop is closed");
        }
        tasks.add(task);
        if (closed && tasks.remove(task)) { // closed since the check: nobody would run it
            throw new RejectedExecutionException("the event loop is closed");
        }
        if (sleeping && !inEventLoop()) {
            handler.wakeup();
        }
    }

    @Override
    public Future<IoRegistration> register(IoHandle handle) {
        Promise<IoRegistration> promise = newPromise();
        if (inEventLoop()) {
            register(handle, promise);
        } else {
            execute(() -> register(handle, promise));
        }
        return promise;
    }

    private void register(IoHandle handle, Promise<IoRegistration> promise) {
        try {
            promise.setSuccess(handler.register(handle));
        } catch (Exception e) {
            promise.setFailure(e);
        }
    }

    @Override
    @Deprecated
    public ChannelFuture register(Channel channel) {
        return register(new DefaultChannelPromise(channel, this));
    }

    @Override
    @Deprecated
    public ChannelFuture register(ChannelPromise promise) {
        promise.channel().unsafe().register(this, promise);
        return promise;
    }

    @Override
    @Deprecated
    public ChannelFuture register(Channel channel, ChannelPromise promise) {
        channel.unsafe().register(this, promise);
        return promise;
    }

    @Override
    public LeaderEventLoop next() {
        return this;
    }

    @Override
    public @Nullable IoEventLoopGroup parent() {
        return null;
    }

    @Override
    public boolean isCompatible(Class<? extends IoHandle> handleType) {
        return handler.isCompatible(handleType);
    }

    @Override
    public boolean isIoType(Class<? extends IoHandler> handlerType) {
        return handler.getClass().equals(handlerType);
    }

    @Override
    public boolean isShuttingDown() {
        return closed;
    }

    @Override
    public boolean isShutdown() {
        return closed;
    }

    @Override
    public boolean isTerminated() {
        return closed;
    }

    @Override
    public boolean awaitTermination(long timeout, TimeUnit unit) throws InterruptedException {
        return termination.await(timeout, unit);
    }

    @Override
    @Deprecated
    @SuppressWarnings("InlineMeSuggester") // deprecated by Netty
    public void shutdown() {
        close();
    }

    @Override
    public Future<?> shutdownGracefully(long quietPeriod, long timeout, TimeUnit unit) {
        close();
        return termination;
    }

    @Override
    public Future<?> terminationFuture() {
        return termination;
    }

    /** The context of a run that does not wait. */
    private static final class Now implements IoHandlerContext {
        @Override
        public boolean canBlock() {
            return false;
        }

        @Override
        public long delayNanos(long currentTimeNanos) {
            return 0;
        }

        @Override
        public long deadlineNanos() {
            return -1;
        }
    }

    /** The context of a run that waits, at most until the next scheduled task. */
    private final class Blocking implements IoHandlerContext {
        private long maxNs;

        /** Netty also asks after the wait, before it would clear the interrupt status of the thread. */
        @Override
        public boolean canBlock() {
            return tasks.isEmpty()
                    && !woken
                    && !hasScheduledTasks()
                    && !Thread.currentThread().isInterrupted();
        }

        @Override
        public long delayNanos(long currentTimeNanos) {
            return Math.min(maxNs, LeaderEventLoop.this.delayNanos(currentTimeNanos, maxNs));
        }

        @Override
        public long deadlineNanos() {
            long nextNs = nextScheduledTaskDeadlineNanos();
            if (maxNs == Long.MAX_VALUE) {
                return nextNs;
            }
            long nowNs = ticker().nanoTime();
            return nextNs == -1 || nextNs - nowNs > maxNs ? nowNs + maxNs : nextNs;
        }
    }
}
