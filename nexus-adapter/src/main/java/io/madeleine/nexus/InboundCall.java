package io.madeleine.nexus;

import io.madeleine.api.PeerFailedException;
import java.util.Objects;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * A call that this process executes. It counts as running until its method has returned and the future or stream that
 * the method returned has ended.
 *
 * <p>Threading: thread-safe.
 */
final class InboundCall implements Runnable {
    private final InboundCalls calls;
    private final InboundCalls.Key key;
    private final Service service;
    private final Service.Operation operation;
    private final Request request;
    private final RemoteCall call;
    private final ParameterStream[] parameters;
    private final @Nullable ItemSender stream;

    /** The number of parts that still run: the method, and its future or stream. */
    private final AtomicInteger working;

    /** The number of parts that are left, the sending of answers included. */
    private final AtomicInteger left;

    private final AtomicBoolean answered = new AtomicBoolean();

    /** Whether the future has ended, or there is none. */
    private final AtomicBoolean futureOver;

    private volatile @Nullable CompletableFuture<?> future;
    private volatile @Nullable Why cancelled;

    /** Whether the method has begun, or will never begin. */
    private volatile boolean begun;

    private boolean invoked;
    private boolean hasReturned;

    /** The thread that runs the method, while it runs. */
    private @Nullable Thread runner;

    /** Why a call is cancelled. */
    enum Why {
        /** The caller has cancelled it, or is gone. */
        CALLER,
        DEADLINE,
        /** The context of this process is being closed. */
        CLOSE
    }

    InboundCall(
            InboundCalls calls,
            InboundCalls.Key key,
            Service service,
            Service.Operation operation,
            RemoteCall call,
            Request request) {
        this.calls = calls;
        this.key = key;
        this.service = service;
        this.operation = operation;
        this.call = call;
        this.request = request;
        ServiceMethod method = operation.method();
        boolean lasts = method.kind() != ServiceMethod.Kind.VALUE;
        this.futureOver = new AtomicBoolean(method.kind() != ServiceMethod.Kind.FUTURE);
        this.working = new AtomicInteger(lasts ? 2 : 1);
        this.left = new AtomicInteger(lasts ? 2 : 1);
        this.parameters = new ParameterStream[method.streamParameters().length];
        for (int i = 0; i < parameters.length; i++) {
            parameters[i] = calls.newParameter(
                    key, method, method.streamParameters()[i], call.deadlineNs(), this::parameterFailed);
        }
        this.stream = method.kind() == ServiceMethod.Kind.STREAM
                ? calls.newStream(key, method, call, _ -> streamEnded())
                : null;
    }

    InboundCalls.Key key() {
        return key;
    }

    @Nullable
    ItemSender stream() {
        return stream;
    }

    @Nullable
    ParameterStream parameter(int index) {
        for (ParameterStream each : parameters) {
            if (each.index() == index) {
                return each;
            }
        }
        return null;
    }

    // ---- execution

    @Override
    public void run() {
        if (call.remainingNs() <= 0) {
            cancel(Why.DEADLINE);
        }
        begun = true;
        runner = Thread.currentThread();
        try {
            if (cancelled == null) {
                carryOut();
            } else {
                request.finish();
                neverRan();
            }
        } finally {
            runner = null;
            left();
        }
    }

    /** Ends a call that was cancelled before its method was called; cancelling has ended its stream already. */
    private void neverRan() {
        refuseIfClosing();
        worked();
        if (futureOver.compareAndSet(false, true)) {
            worked();
            left();
        }
    }

    private void refuseIfClosing() {
        if (answered.compareAndSet(false, true) && cancelled == Why.CLOSE) {
            calls.refuseClosing(key, call.deadlineNs()); // other callers see their deadline, or do not wait
        }
    }

    private void carryOut() {
        Object result;
        try {
            result = call.<@Nullable Object, Throwable>call(this::invoke);
        } catch (Throwable e) {
            returned();
            if (stream != null) {
                stream.fail(e);
            } else if (operation.method().kind() == ServiceMethod.Kind.FUTURE) {
                endFuture(null, e);
            } else {
                answer(null, e);
            }
            return;
        }
        returned();
        switch (operation.method().kind()) {
            case VALUE -> answer(result, null);
            case FUTURE -> await((CompletionStage<?>) Objects.requireNonNull(result)); // invokeMethod has checked it
            case STREAM -> {} // it has begun in invoke
        }
    }

    private @Nullable Object invoke() throws Throwable {
        Object result;
        try {
            call.readMetadata(request);
            ServerInterceptor[] interceptors = calls.interceptors();
            result = interceptors.length == 0 ? invokeMethod() : invokeThrough(interceptors, 0);
        } finally {
            request.finish();
        }
        if (stream != null) {
            Flow.Publisher<?> publisher = (Flow.Publisher<?>) Objects.requireNonNull(result);
            returned(); // before the stream, which may end at once
            stream.start(publisher);
        }
        return result;
    }

    /** The method has returned, or has not been called; once. */
    private void returned() {
        if (!hasReturned) {
            hasReturned = true;
            worked();
        }
    }

    private @Nullable Object invokeThrough(ServerInterceptor[] interceptors, int next) throws Throwable {
        if (next == interceptors.length) {
            return invokeMethod();
        }
        ServerInterceptor interceptor = interceptors[next];
        Object result = interceptor.intercept(call, () -> invokeThrough(interceptors, next + 1));
        if (!operation.method().mayReturn(result)) {
            throw new IllegalStateException("the server interceptor "
                    + interceptor.getClass().getName() + " answers " + operation.method() + " with "
                    + (result == null ? "null" : "a " + result.getClass().getName()) + ": expected "
                    + operation.method().returns() + ", as next.proceed() returns it");
        }
        return result;
    }

    private @Nullable Object invokeMethod() throws Throwable {
        if (invoked) {
            throw new IllegalStateException("an interceptor has called next.proceed() twice: expected once per call");
        }
        invoked = true;
        @Nullable Object[] values;
        try {
            values = operation.method().readParameters(request, parameters);
        } catch (Throwable e) {
            throw new CodingException("the arguments of " + operation.method(), "read", e);
        } finally {
            request.finish();
        }
        Object result = operation.invoke(values);
        if (!operation.method().mayReturn(result)) {
            throw new NullPointerException(operation.method() + " returned null: expected "
                    + operation.method().returns());
        }
        return result;
    }

    private void await(CompletionStage<?> stage) {
        if (stage instanceof CompletableFuture<?> mayBeCancelled) {
            future = mayBeCancelled;
            if (cancelled != null) {
                cancelFuture();
            }
        }
        try {
            stage.whenComplete((value, thrown) -> endFuture(value, thrown == null ? null : unwrapped(thrown)));
        } catch (Throwable e) { // from a stage that the program implements itself
            endFuture(null, e);
        }
    }

    /** Ends the future's part, once, even if a stage that the program implements completes twice. */
    private void endFuture(@Nullable Object value, @Nullable Throwable thrown) {
        if (!futureOver.compareAndSet(false, true)) {
            return;
        }
        worked();
        try {
            answer(value, thrown);
        } finally {
            left();
        }
    }

    private static Throwable unwrapped(Throwable thrown) {
        Throwable cause = thrown.getCause();
        return thrown instanceof CompletionException && cause != null ? cause : thrown;
    }

    private void answer(@Nullable Object value, @Nullable Throwable thrown) {
        if (!answered.compareAndSet(false, true)) {
            return;
        }
        endParameters();
        // a thread that completes a future must not wait until the caller takes the answer
        boolean mayWait = runner == Thread.currentThread();
        if (thrown == null) {
            calls.succeed(key, operation.method(), call, value, mayWait);
        } else {
            Throwable why = cancelled == Why.CLOSE ? calls.interrupted(operation.method(), thrown) : thrown;
            calls.fail(key, operation.method(), call, why, mayWait);
        }
    }

    /**
     * Called when an item of a parameter stream cannot be read: the caller gets the failure at once, the implementation
     * through its subscriber.
     */
    private void parameterFailed(NexusException failure) {
        if (answered.compareAndSet(false, true)) { // first: the implementation may return when it sees its stream end
            calls.fail(key, operation.method(), call, failure, true);
        }
        if (stream != null) {
            stream.cancel();
        }
        endParameters(failure);
    }

    // ---- ends

    /** Called when a part of the call has ended. */
    private void worked() {
        if (working.decrementAndGet() == 0) { // before the answer: its caller may call again as soon as it has it
            service.end();
            calls.ended();
        }
    }

    /** Called when a part of the call has ended and its answer has been sent. */
    private void left() {
        if (left.decrementAndGet() == 0) {
            calls.over(this);
        }
    }

    /** Called when the publisher's part has ended; returns the action for when the subscriber has been notified. */
    private Runnable streamEnded() {
        endParameters();
        worked();
        return this::left;
    }

    private void endParameters() {
        if (parameters.length > 0) {
            endParameters(new CancellationException("the call has ended"));
        }
    }

    private void endParameters(Throwable why) {
        for (ParameterStream each : parameters) {
            each.fail(why);
        }
    }

    /** Cancels the call because its caller is gone. */
    void callerGone(String why) {
        if (parameters.length > 0) {
            String text = "the caller of " + operation.method() + ", rank " + key.caller() + ", is gone: " + why;
            endParameters(new PeerFailedException(key.caller(), text));
        }
        cancel(Why.CALLER);
    }

    /** Ends a call that no thread could be found for. */
    void giveUp() {
        request.finish();
        endParameters();
        service.end();
    }

    /** Cancels the call: interrupts its threads, cancels its future, ends its streams. Never blocks. */
    void cancel(Why why) {
        if (cancelled == null) {
            cancelled = why;
        }
        if (why == Why.CALLER) {
            answered.set(true); // the caller does not wait for an answer
        }
        // the streams first: an interrupted publisher or subscriber would end them with a failure of its own
        endParameters();
        if (stream != null && why == Why.CLOSE && begun) {
            stream.failLater(calls.interrupted(operation.method(), null));
        } else if (stream != null) {
            stream.cancel();
        }
        call.cancel();
        cancelFuture();
    }

    /** Cancels the future in a virtual thread, because actions that depend on it may block. */
    private void cancelFuture() {
        CompletableFuture<?> pending = future;
        if (pending == null || pending.isDone()) {
            return;
        }
        Thread.startVirtualThread(() -> {
            try {
                pending.cancel(true);
            } catch (UnsupportedOperationException e) {
                // the stage cannot be cancelled
            }
        });
    }

    /** Answers in place of a call that goes on although its context is closed. */
    void abandon() {
        if (stream == null && begun) {
            answer(null, new CancellationException("it has not ended"));
        } else if (!begun) {
            refuseIfClosing();
        }
    }

    boolean isLate(long nowNs) {
        return cancelled == null && call.deadlineNs() - nowNs <= 0;
    }
}
