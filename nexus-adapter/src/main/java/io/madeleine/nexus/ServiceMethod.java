package io.madeleine.nexus;

import io.madeleine.nexus.codec.Serializers;
import io.madeleine.nexus.codec.Shape;
import io.madeleine.nexus.codec.Types;
import io.madeleine.nexus.wire.RequestLayout;
import java.lang.invoke.MethodType;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Type;
import java.lang.reflect.TypeVariable;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * A method of a remote service: how it is called, and which values are sent.
 *
 * <p>Threading: immutable.
 */
final class ServiceMethod {
    /** How the caller gets the result. */
    enum Kind {
        /** The caller waits for it. */
        VALUE,
        /** The caller gets a future. */
        FUTURE,
        /** The caller subscribes to it. */
        STREAM
    }

    /** Practically unlimited, and far below the overflow of {@link System#nanoTime}. */
    private static final long LONGEST_NS = Long.MAX_VALUE / 4;

    private static final int DIGEST_BITS = 48;

    private final Method method;
    private final Shape shape;
    private final long id;
    private final Kind kind;

    /** The type of results, as that of an object. */
    private final Class<?> boxed;

    private final List<Codec<Object>> parameters = new ArrayList<>();

    /** The indices of the parameters that are streams; their codec is that of the items. */
    private final int[] streams;

    private final @Nullable Codec<Object> result;
    private final boolean isIdempotent;
    private final int attempts;
    private final long timeoutNs;

    /** The types of a method's values; for streams and futures, those of the items or results. */
    private record Signature(Method method, List<Type> parameters, Type result) {
        static Signature of(Method method, Map<TypeVariable<?>, Type> variables) {
            try {
                List<Type> parameters = new ArrayList<>();
                for (Type parameter : method.getGenericParameterTypes()) {
                    Type resolved = Types.resolve(parameter, variables);
                    parameters.add(Types.raw(resolved) == Flow.Publisher.class ? argument(resolved) : resolved);
                }
                Type result = Types.resolve(method.getGenericReturnType(), variables);
                return new Signature(method, parameters, kindOf(method) == Kind.VALUE ? result : argument(result));
            } catch (IllegalArgumentException e) {
                throw notRemote(method, e);
            }
        }

        boolean isStream(int parameter) {
            return method.getParameterTypes()[parameter] == Flow.Publisher.class;
        }

        boolean hasResult() {
            return result != void.class && result != Void.class;
        }
    }

    private ServiceMethod(
            Signature signature, Shape shape, Function<Type, Codec<Object>> codecs, long defaultTimeoutNs) {
        this.method = signature.method();
        this.shape = shape;
        this.id = (long) nameNumber(method.getName()) << DIGEST_BITS | shape.digest() >>> Long.SIZE - DIGEST_BITS;
        this.kind = kindOf(method);
        this.boxed = MethodType.methodType(method.getReturnType()).wrap().returnType();
        try {
            signature.parameters().forEach(parameter -> parameters.add(codecs.apply(parameter)));
            this.result = signature.hasResult() ? codecs.apply(signature.result()) : null;
        } catch (IllegalArgumentException e) {
            throw notRemote(method, e);
        }
        this.streams = IntStream.range(0, parameters.size())
                .filter(signature::isStream)
                .toArray();
        Idempotent idempotent = method.getAnnotation(Idempotent.class);
        this.isIdempotent = idempotent != null;
        this.attempts =
                idempotent == null ? 1 : (int) atLeastOne(method, "@Idempotent.attempts", idempotent.attempts());
        if (isIdempotent && streams.length > 0) {
            throw new IllegalArgumentException(
                    "method " + method + " cannot be called remotely: it is @Idempotent, and has"
                            + " a stream as parameter, which comes once and cannot be sent again");
        }
        boolean lasts = kind == Kind.STREAM || streams.length > 0;
        this.timeoutNs = timeoutNs(method, lasts ? LONGEST_NS : defaultTimeoutNs);
    }

    private static Kind kindOf(Method method) {
        Class<?> raw = method.getReturnType();
        if (raw == CompletableFuture.class || raw == CompletionStage.class) {
            return Kind.FUTURE;
        }
        return raw == Flow.Publisher.class ? Kind.STREAM : Kind.VALUE;
    }

    private static Type argument(Type type) {
        if (type instanceof Types.Of of) {
            return of.arguments().getFirst();
        }
        throw new IllegalArgumentException(
                type.getTypeName() + " has no type argument: expected one, as in CompletableFuture<String>");
    }

    private static IllegalArgumentException notRemote(Method method, IllegalArgumentException why) {
        return new IllegalArgumentException(
                "method " + method + " cannot be called remotely: " + why.getMessage(), why);
    }

    /** A 16-bit hash of a method's name, by which methods of the same name are found. */
    static int nameNumber(String name) {
        int hash = RequestLayout.id(name);
        return (hash ^ hash >>> 16) & 0xFFFF;
    }

    /** The {@link #nameNumber(String)} that a method's number contains. */
    static int nameNumber(long id) {
        return (int) (id >>> DIGEST_BITS);
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

    /** All abstract methods of a service's interface by their numbers. */
    static Map<Long, ServiceMethod> all(Class<?> type, Codecs codecs, long defaultTimeoutNs) {
        Map<TypeVariable<?>, Type> variables = Types.variablesOfAll(type);
        List<Signature> signatures = new ArrayList<>();
        for (Method method : type.getMethods()) {
            if (Modifier.isAbstract(method.getModifiers())) {
                signatures.add(Signature.of(method, variables));
            }
        }
        String serializer = describe(type).serializer();
        Function<Type, Codec<Object>> found =
                serializer.isEmpty() ? codecs::find : Serializers.codecs(type, serializer, typesOf(signatures));
        Map<Long, ServiceMethod> methods = new HashMap<>();
        for (Signature each : signatures) {
            Shape shape;
            try {
                for (Type value : typesOf(List.of(each))) {
                    Codec<Object> _ = found.apply(value); // throws if a type has no codec, before the shape is built
                }
                shape = shapeOf(each, codecs, serializer);
            } catch (IllegalArgumentException e) {
                throw notRemote(each.method(), e);
            }
            ServiceMethod known = new ServiceMethod(each, shape, found, defaultTimeoutNs);
            ServiceMethod same = methods.putIfAbsent(known.id(), known);
            if (same != null) {
                throw new IllegalArgumentException("methods " + same.method + " and " + each.method()
                        + " have the same number: rename one of them");
            }
        }
        return Map.copyOf(methods);
    }

    private static Set<Type> typesOf(List<Signature> signatures) {
        Set<Type> types = new HashSet<>();
        for (Signature each : signatures) {
            types.addAll(each.parameters());
            if (each.hasResult()) {
                types.add(each.result());
            }
        }
        return types;
    }

    /**
     * Describes a method. The name of a serialiser stands for all types, because the serialiser decides how far they
     * may differ.
     */
    private static Shape shapeOf(Signature signature, Codecs codecs, String serializer) {
        Shape.Builder shape = new Shape.Builder(codecs::isOwn, codecs::isBuiltIn);
        shape.add("method", signature.method().getName());
        for (int i = 0; i < signature.parameters().size(); i++) {
            String what = "parameter " + (i + 1);
            String prefix = signature.isStream(i) ? "stream of " : "";
            add(shape, what, prefix, signature.parameters().get(i), serializer);
        }
        String prefix = kindOf(signature.method()) == Kind.STREAM ? "stream of " : "";
        if (signature.hasResult()) {
            add(shape, "result", prefix, signature.result(), serializer);
        } else {
            shape.add("result", prefix + "void");
        }
        return shape.build();
    }

    private static void add(Shape.Builder shape, String what, String prefix, Type type, String serializer) {
        if (serializer.isEmpty()) {
            shape.add(what, prefix, type);
        } else {
            shape.add(what, prefix + "what " + serializer + " writes");
        }
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

    long id() {
        return id;
    }

    Shape shape() {
        return shape;
    }

    Kind kind() {
        return kind;
    }

    /**
     * Whether an implementation or an interceptor may return this value: a future or stream, if the method returns one.
     */
    boolean mayReturn(@Nullable Object value) {
        return switch (kind) {
            case VALUE -> true; // the codec checks it
            case FUTURE -> value instanceof CompletionStage<?>;
            case STREAM -> value instanceof Flow.Publisher<?>;
        };
    }

    /** Whether the proxy may return this value to the caller. */
    boolean mayGive(@Nullable Object value) {
        Class<?> type = method.getReturnType();
        if (value == null) {
            return kind == Kind.VALUE && (type == void.class || !type.isPrimitive());
        }
        return type == void.class || boxed.isInstance(value);
    }

    /** A text for the kind of its result. */
    String returns() {
        return switch (kind) {
            case VALUE -> "a value";
            case FUTURE -> "a CompletionStage";
            case STREAM -> "a Flow.Publisher";
        };
    }

    boolean isIdempotent() {
        return isIdempotent;
    }

    /** The number of attempts in all, not counting refusals. */
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

    /** A text for an item, counted from 1, of a stream parameter. */
    String itemName(int parameter, long number) {
        return "item " + number + " of parameter " + (parameter + 1) + " of " + this;
    }

    /** The indices of the parameters that are streams. */
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
        Object item = parameters.get(parameter).read(request);
        request.expectEnd();
        return item;
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
        request.expectEnd();
        return values;
    }

    void writeResult(Arguments arguments, @Nullable Object value) {
        if (result != null) {
            write(result, arguments, value);
        }
    }

    @Nullable
    Object readResult(Request request) {
        Object value = result == null ? null : result.read(request);
        request.expectEnd();
        return value;
    }

    @Override
    public String toString() {
        return method.getDeclaringClass().getSimpleName() + "." + method.getName();
    }
}
