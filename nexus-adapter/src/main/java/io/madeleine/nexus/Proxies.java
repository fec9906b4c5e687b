package io.madeleine.nexus;

import io.madeleine.api.MadeleineException;
import io.madeleine.api.WaitInterruptedException;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Flow;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The invocation handler of service proxies: turns method calls into remote calls.
 *
 * <p>Threading: thread-safe.
 */
final class Proxies implements InvocationHandler {
    private final Node node;
    private final Calls calls;
    private final Startpoint startpoint;
    private final Calls.Target[] targets;
    private final Class<?> type;
    private final ClientInterceptor[] interceptors;
    private final Map<Method, ServiceMethod> methods = new HashMap<>();

    private Proxies(Context context, Startpoint startpoint, Class<?> type, List<ClientInterceptor> own) {
        this.node = context.node();
        this.calls = context.calls();
        this.startpoint = startpoint;
        this.type = type;
        this.targets = startpoint.targets();
        this.interceptors = Stream.concat(node.options().clientInterceptors().stream(), own.stream())
                .toArray(ClientInterceptor[]::new);
        context.serviceMethods().of(type).values().forEach(method -> methods.put(method.method(), method));
    }

    static <S> S proxy(Context context, Startpoint startpoint, Class<S> type, List<ClientInterceptor> interceptors) {
        ServiceMethod.describe(type);
        return type.cast(Proxy.newProxyInstance(
                type.getClassLoader(), new Class<?>[] {type}, new Proxies(context, startpoint, type, interceptors)));
    }

    @Override
    public @Nullable Object invoke(Object proxy, Method method, @Nullable Object @Nullable [] parameters)
            throws Throwable {
        ServiceMethod known = methods.get(method);
        if (known == null) {
            return method.isDefault() ? DefaultMethods.invoke(proxy, method, parameters) : ofObject(method, parameters);
        }
        long deadlineNs = deadlineNs(known);
        return interceptors.length == 0
                ? call(known, parameters, deadlineNs, null)
                : callThrough(known, parameters, deadlineNs, new OutgoingCall(known.method(), targets[0].rank()));
    }

    /** The deadline of a call that begins now. */
    private static long deadlineNs(ServiceMethod method) {
        return RemoteCall.inheritedDeadlineNs(System.nanoTime() + method.timeoutNs());
    }

    private @Nullable Object callThrough(
            ServiceMethod method, @Nullable Object @Nullable [] parameters, long deadlineNs, OutgoingCall outgoing)
            throws Throwable {
        try {
            return callThrough(method, 0, outgoing, () -> call(method, parameters, deadlineNs, outgoing));
        } catch (Throwable e) {
            if (method.kind() != ServiceMethod.Kind.FUTURE) {
                throw e;
            }
            return CompletableFuture.failedFuture(e);
        }
    }

    private @Nullable Object callThrough(ServiceMethod method, int next, OutgoingCall outgoing, Invocation last)
            throws Throwable {
        if (next == interceptors.length) {
            return last.proceed();
        }
        ClientInterceptor interceptor = interceptors[next];
        Object result = interceptor.intercept(outgoing, () -> callThrough(method, next + 1, outgoing, last));
        if (!method.mayGive(result)) {
            throw new IllegalStateException("the client interceptor "
                    + interceptor.getClass().getName() + " answers " + method + " with "
                    + (result == null ? "null" : "a " + result.getClass().getName()) + ": expected "
                    + method.method().getReturnType().getName() + ", as next.proceed() returns it");
        }
        return result;
    }

    private @Nullable Object call(
            ServiceMethod known,
            @Nullable Object @Nullable [] parameters,
            long deadlineNs,
            @Nullable OutgoingCall outgoing) {
        return switch (known.kind()) {
            case VALUE ->
                known.isIdempotent()
                        ? callAgain(known, parameters, deadlineNs, outgoing)
                        : calls.call(targets[0], known, parameters, deadlineNs, outgoing);
            case FUTURE -> callAsync(known, parameters, deadlineNs, outgoing);
            case STREAM -> stream(known, parameters, outgoing);
        };
    }

    /** Makes a call that returns a future; failures come through the future. */
    private PendingCall.Async.Future callAsync(
            ServiceMethod method,
            @Nullable Object @Nullable [] parameters,
            long deadlineNs,
            @Nullable OutgoingCall outgoing) {
        try {
            return method.isIdempotent()
                    ? calls.callAgainAsync(policy(method, deadlineNs), method, parameters, deadlineNs, outgoing)
                    : calls.callAsync(targets[0], method, parameters, deadlineNs, outgoing);
        } catch (RuntimeException | Error e) { // a null stream, for instance
            PendingCall.Async.Future failed = new PendingCall.Async.Future();
            failed.fail(e);
            return failed;
        }
    }

    private @Nullable Object callAgain(
            ServiceMethod method,
            @Nullable Object @Nullable [] parameters,
            long deadlineNs,
            @Nullable OutgoingCall outgoing) {
        RetryPolicy policy = policy(method, deadlineNs);
        while (true) {
            Calls.Target target = policy.target();
            try {
                if (outgoing != null) {
                    outgoing.goesTo(target.rank());
                }
                return calls.call(target, method, parameters, deadlineNs, outgoing);
            } catch (MadeleineException e) {
                long pauseNs = policy.pauseNsAfter(e);
                if (pauseNs == RetryPolicy.NEVER) {
                    throw Sneaky.asUnchecked(policy.end(e));
                }
                pause(pauseNs);
            }
        }
    }

    private RetryPolicy policy(ServiceMethod method, long deadlineNs) {
        return new RetryPolicy(node, targets, method, deadlineNs);
    }

    /** Parks instead of waiting on a signal, which messages for other calls would wake. */
    private static void pause(long pauseNs) {
        long untilNs = System.nanoTime() + pauseNs;
        for (long leftNs = pauseNs; leftNs > 0; leftNs = untilNs - System.nanoTime()) {
            LockSupport.parkNanos(leftNs);
            if (Thread.currentThread().isInterrupted()) {
                throw new WaitInterruptedException("interrupted before a call that was refused could be made again");
            }
        }
    }

    /** Each subscription is a call, with the method's whole time. */
    private Flow.Publisher<Object> stream(
            ServiceMethod method, @Nullable Object @Nullable [] parameters, @Nullable OutgoingCall outgoing) {
        return subscriber -> new StreamCall(
                        node, calls, targets[0].rank(), method, deadlineNs(method), outgoing, subscriber)
                .start(targets[0], parameters);
    }

    private @Nullable Object ofObject(Method method, @Nullable Object @Nullable [] parameters) {
        return switch (method.getName()) {
            case "equals" ->
                parameters != null
                        && parameters[0] != null
                        && Proxy.isProxyClass(parameters[0].getClass())
                        && Proxy.getInvocationHandler(parameters[0]) instanceof Proxies other
                        && other.type == type
                        && other.startpoint.equals(startpoint);
            case "hashCode" -> startpoint.hashCode();
            case "toString" -> type.getSimpleName() + " at " + startpoint;
            default -> throw new UnsupportedOperationException(method.toString());
        };
    }
}
