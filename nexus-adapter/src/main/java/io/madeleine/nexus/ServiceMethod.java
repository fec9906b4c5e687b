package io.madeleine.nexus;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * A method of a remote service: how it is called and what travels.
 *
 * <p>Threading: immutable.
 */
final class ServiceMethod {
    /** What the caller does with the result. */
    enum Kind {
        /** Waits for it. */
        VALUE,
        /** Gets a future. */
        FUTURE,
        /** Subscribes to it. */
        STREAM
    }

    /** As good as for ever, and far from where the clock overflows. */
    private static final long LONGEST_NS = Long.MAX_VALUE / 4;

    private final Method method;
    private final int id;
    private final Kind kind;
    private final List<Codec<Object>> parameters = new ArrayList<>();

    /** Which of them are streams, of items with the codec. */
    private final int[] streams;

    private final @Nullable Codec<Object> result;
    private final int attempts;
    private final long timeoutNs;

    private ServiceMethod(Method method, Codecs codecs, long defaultTimeoutNs) {
        this.method = method;
        this.id = Wire.id(signature(method));
        Type returned = method.getGenericReturnType();
        Class<?> raw = method.getReturnType();
        if (raw == CompletableFuture.class || raw == CompletionStage.class) {
            kind = Kind.FUTURE;
            returned = argument(returned);
        } else if (raw == Flow.Publisher.class) {
            kind = Kind.STREAM;
            returned = argument(returned);
        } else {
            kind = Kind.VALUE;
        }
        try {
            for (Type parameter : method.getGenericParameterTypes()) {
                parameters.add(codecs.find(isStream(parameter) ? argument(parameter) : parameter));
            }
            this.result = returned == void.class || returned == Void.class ? null : codecs.find(returned);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException("method " + method + " cannot be called remotely: " + e.getMessage(), e);
        }
        Idempotent idempotent = method.getAnnotation(Idempotent.class);
        this.attempts =
                idempotent == null ? 1 : (int) atLeastOne(method, "@Idempotent.attempts", idempotent.attempts());
        Type[] types = method.getGenericParameterTypes();
        this.streams =
                IntStream.range(0, types.length).filter(i -> isStream(types[i])).toArray();
        if (attempts > 1 && streams.length > 0) {
            throw new IllegalArgumentException(
                    "method " + method + " cannot be called remotely: it is @Idempotent, and has"
                            + " a stream as parameter, which comes once");
        }
        boolean lasts = kind == Kind.STREAM || streams.length > 0;
        this.timeoutNs = timeoutNs(method, lasts ? LONGEST_NS : defaultTimeoutNs);
    }

    private static boolean isStream(Type type) {
        return type instanceof ParameterizedType parameterized && parameterized.getRawType() == Flow.Publisher.class
                || type == Flow.Publisher.class;
    }

    private static Type argument(Type type) {
        if (type instanceof ParameterizedType parameterized) {
            return parameterized.getActualTypeArguments()[0];
        }
        throw new IllegalArgumentException(
                type.getTypeName() + " does not say of what: expected a type argument, as CompletableFuture<String>");
    }

    private static String signature(Method method) {
        StringBuilder text = new StringBuilder(method.getName()).append('(');
        for (Class<?> parameter : method.getParameterTypes()) {
            text.append(parameter.getName()).append(',');
        }
        return text.append(')').toString();
    }

    private static long timeoutNs(Method method, long unless) {
        CallTimeout timeout = method.getAnnotation(CallTimeout.class);
        if (timeout == null) {
            timeout = method.getDeclaringClass().getAnnotation(CallTimeout.class);
        }
        return timeout == null
                ? unless
                : Math.min(
                        TimeUnit.MILLISECONDS.toNanos(atLeastOne(method, "@CallTimeout.millis", timeout.millis())),
                        LONGEST_NS);
    }

    private static long atLeastOne(Method method, String what, long value) {
        if (value < 1) {
            throw new IllegalArgumentException("method " + method + " cannot be called remotely: " + what + " is "
                    + value + ", expected at least 1");
        }
        return value;
    }

    /** All abstract methods of a service's interface, by their numbers. */
    static Map<Integer, ServiceMethod> all(Class<?> type, Codecs codecs, long defaultTimeoutNs) {
        Map<Integer, ServiceMethod> methods = new HashMap<>();
        for (Method method : type.getMethods()) {
            if (Modifier.isAbstract(method.getModifiers())) {
                ServiceMethod known = new ServiceMethod(method, codecs, defaultTimeoutNs);
                ServiceMethod same = methods.putIfAbsent(known.id(), known);
                if (same != null) {
                    throw new IllegalArgumentException(
                            "methods " + same.method + " and " + method + " have the same number: rename one of them");
                }
            }
        }
        return methods;
    }

    static RemoteService describe(Class<?> type) {
        RemoteService service = type.getAnnotation(RemoteService.class);
        if (service == null || !type.isInterface()) {
            throw new IllegalArgumentException(
                    type.getName() + " is no remote service: expected an interface with @RemoteService");
        }
        return service;
    }

    static String nameOf(Class<?> type) {
        String name = describe(type).name();
        return name.isEmpty() ? type.getName() : name;
    }

    Method method() {
        return method;
    }

    int id() {
        return id;
    }

    Kind kind() {
        return kind;
    }

    int attempts() {
        return attempts;
    }

    long timeoutNs() {
        return timeoutNs;
    }

    Class<?>[] declared() {
        return method.getExceptionTypes();
    }

    void writeParameters(Arguments arguments, @Nullable Object @Nullable [] values) {
        for (int i = 0; i < parameters.size(); i++) {
            if (!isStream(i)) {
                write(parameters.get(i), arguments, values == null ? null : values[i]);
            }
        }
    }

    /** Names an item, counted from 1, of a parameter that is a stream. */
    String itemName(int parameter, long number) {
        return "item " + number + " of parameter " + (parameter + 1) + " of " + this;
    }

    /** Which parameters are streams. */
    int[] streamParameters() {
        return streams;
    }

    private boolean isStream(int parameter) {
        return IntStream.of(streams).anyMatch(index -> index == parameter);
    }

    void writeItem(int parameter, Arguments arguments, @Nullable Object item) {
        write(parameters.get(parameter), arguments, item);
    }

    @Nullable
    Object readItem(int parameter, Request request) {
        return parameters.get(parameter).read(request);
    }

    @SuppressWarnings("NullAway") // the codecs of this package take null
    private static void write(Codec<Object> codec, Arguments arguments, @Nullable Object value) {
        codec.write(arguments, value);
    }

    @Nullable
    Object[] readParameters(Request request, ParameterStream[] streamed) {
        @Nullable Object[] values = new Object[parameters.size()];
        for (int i = 0, next = 0; i < values.length; i++) {
            values[i] = isStream(i) ? streamed[next++] : parameters.get(i).read(request);
        }
        return values;
    }

    void writeResult(Arguments arguments, @Nullable Object value) {
        if (result != null) {
            write(result, arguments, value);
        }
    }

    @Nullable
    Object readResult(Request request) {
        return result == null ? null : result.read(request);
    }

    @Override
    public String toString() {
        return method.getDeclaringClass().getSimpleName() + "." + method.getName();
    }
}
