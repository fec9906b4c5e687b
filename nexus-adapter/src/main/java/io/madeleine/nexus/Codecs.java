package io.madeleine.nexus;

import java.lang.foreign.MemorySegment;
import java.lang.reflect.Array;
import java.lang.reflect.GenericArrayType;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.lang.reflect.WildcardType;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Finds the codec of a type: primitives and their boxes, strings, arrays, enums, {@link MemorySegment}, {@link Startpoint},
 * {@code List}, {@code Set}, {@code Map} and {@code Optional} of such, records of such, and whatever has been
 * {@linkplain #register registered}. Values that are no primitives may be null. No Java serialization anywhere.
 *
 * <p>A segment that has come is memory of the heap, aligned for longs; who wants it elsewhere registers a codec that takes it
 * there, with {@link Request#getSegment}.
 *
 * <p>Threading: thread-safe.
 */
public final class Codecs {
    private final Map<Type, Codec<Object>> known = new ConcurrentHashMap<>();
    private final Map<Type, Codec<Object>> beingMade = new HashMap<>();

    Codecs() {
        add(boolean.class, Boolean.class, Codec.of((v, a) -> a.putBoolean(v), Request::getBoolean));
        add(byte.class, Byte.class, Codec.of((v, a) -> a.putByte(v), Request::getByte));
        add(short.class, Short.class, Codec.of((v, a) -> a.putShort(v), Request::getShort));
        add(char.class, Character.class, Codec.of((v, a) -> a.putChar(v), Request::getChar));
        add(int.class, Integer.class, Codec.of((v, a) -> a.putInt(v), Request::getInt));
        add(long.class, Long.class, Codec.of((v, a) -> a.putLong(v), Request::getLong));
        add(float.class, Float.class, Codec.of((v, a) -> a.putFloat(v), Request::getFloat));
        add(double.class, Double.class, Codec.of((v, a) -> a.putDouble(v), Request::getDouble));
        register(String.class, Codec.of((v, a) -> a.putString(v), Request::getString));
        register(byte[].class, Codec.of((v, a) -> a.putBytes(v), Request::getBytes));
        register(short[].class, Codec.of((v, a) -> a.putShorts(v), Request::getShorts));
        register(char[].class, Codec.of((v, a) -> a.putChars(v), Request::getChars));
        register(int[].class, Codec.of((v, a) -> a.putInts(v), Request::getInts));
        register(long[].class, Codec.of((v, a) -> a.putLongs(v), Request::getLongs));
        register(float[].class, Codec.of((v, a) -> a.putFloats(v), Request::getFloats));
        register(double[].class, Codec.of((v, a) -> a.putDoubles(v), Request::getDoubles));
        register(
                MemorySegment.class,
                Codec.of((v, a) -> a.putSegment(v), request -> request.getSegment(Codecs::onHeap)));
        register(Startpoint.class, Codec.of((v, a) -> a.putStartpoint(v), Request::getStartpoint));
    }

    /** Memory of the heap, aligned for longs: that of {@link java.lang.foreign.Arena#ofAuto} takes several times as long to make. */
    private static MemorySegment onHeap(long bytes, long alignment) {
        return MemorySegment.ofArray(new long[Math.toIntExact((bytes + Long.BYTES - 1) / Long.BYTES)])
                .asSlice(0, bytes);
    }

    private <T> void add(Class<T> primitive, Class<T> box, Codec<T> codec) {
        known.put(primitive, untyped(codec));
        register(box, codec);
    }

    /** Adds the codec of a type, or replaces it; both ends register the same. */
    public <T> Codecs register(Class<T> type, Codec<T> codec) {
        Nullables nullable = new Nullables();
        nullable.codec = untyped(codec);
        known.put(type, nullable);
        return this;
    }

    @SuppressWarnings("unchecked") // values are of the type for which the codec was found
    private static Codec<Object> untyped(Codec<?> codec) {
        return (Codec<Object>) codec;
    }

    /**
     * The codec of a type.
     *
     * @throws IllegalArgumentException if there is none; the message says what would be accepted
     */
    @SuppressWarnings("unchecked") // found by this type
    public <T> Codec<T> of(Class<T> type) {
        return (Codec<T>) find(type);
    }

    Codec<Object> find(Type type) {
        Codec<Object> codec = known.get(type);
        return codec == null ? findNew(type) : codec;
    }

    /** A type that contains itself finds the codec that is being made. */
    private synchronized Codec<Object> findNew(Type type) {
        Codec<Object> codec = known.get(type);
        if (codec == null) {
            codec = beingMade.get(type);
        }
        if (codec == null) {
            Nullables made = new Nullables();
            beingMade.put(type, made);
            try {
                made.codec = derive(type);
                known.put(type, made);
            } finally {
                beingMade.remove(type);
            }
            codec = made;
        }
        return codec;
    }

    private Codec<Object> derive(Type type) {
        return switch (type) {
            case Class<?> raw when raw.isRecord() -> new RecordCodec(raw, this);
            case Class<?> raw when raw.isEnum() -> enumeration(raw.getEnumConstants());
            case Class<?> raw when raw.isArray() -> array(raw.getComponentType(), find(raw.getComponentType()));
            case GenericArrayType generic ->
                array(raw(generic.getGenericComponentType()), find(generic.getGenericComponentType()));
            case WildcardType wildcard -> find(wildcard.getUpperBounds()[0]);
            case ParameterizedType generic -> parameterized(generic);
            default -> throw unknown(type);
        };
    }

    private static IllegalArgumentException unknown(Type type) {
        return new IllegalArgumentException(
                "there is no codec for " + type.getTypeName() + ": expected a primitive, its"
                        + " box, a String, an array, an enum, a record, MemorySegment, Startpoint, List, Set, Map or Optional of"
                        + " such, or a type that was added with Context.codecs().register");
    }

    static Class<?> raw(Type type) {
        return switch (type) {
            case Class<?> raw -> raw;
            case ParameterizedType generic -> raw(generic.getRawType());
            case WildcardType wildcard -> raw(wildcard.getUpperBounds()[0]);
            default -> throw unknown(type);
        };
    }

    private Codec<Object> parameterized(ParameterizedType type) {
        Class<?> raw = raw(type);
        Type[] arguments = type.getActualTypeArguments();
        if (raw == List.class || raw == Collection.class) {
            return collection(find(arguments[0]), ArrayList::new);
        }
        if (raw == Set.class) {
            return collection(find(arguments[0]), LinkedHashSet::new);
        }
        if (raw == Optional.class) {
            return optional(find(arguments[0]));
        }
        if (raw == Map.class) {
            return map(find(arguments[0]), find(arguments[1]));
        }
        if (raw.isRecord()) {
            return new RecordCodec(type, this);
        }
        throw unknown(type);
    }

    @SuppressWarnings("NullAway") // the codecs of this package take null
    private static Codec<Object> optional(Codec<Object> element) {
        return untyped(Codec.<Optional<Object>>of(
                (v, a) -> element.write(a, v.orElse(null)), request -> Optional.ofNullable(element.read(request))));
    }

    private static Codec<Object> collection(Codec<Object> element, Supplier<Collection<Object>> empty) {
        return untyped(Codec.<Collection<Object>>of(
                (v, a) -> {
                    a.putInt(v.size());
                    v.forEach(e -> element.write(a, e));
                },
                request -> {
                    Collection<Object> values = empty.get();
                    int count = count(request);
                    for (int i = 0; i < count; i++) {
                        values.add(element.read(request));
                    }
                    return values;
                }));
    }

    private static Codec<Object> map(Codec<Object> key, Codec<Object> value) {
        return untyped(Codec.<Map<Object, Object>>of(
                (v, a) -> {
                    a.putInt(v.size());
                    v.forEach((k, e) -> {
                        key.write(a, k);
                        value.write(a, e);
                    });
                },
                request -> {
                    Map<Object, Object> values = new LinkedHashMap<>();
                    int count = count(request);
                    for (int i = 0; i < count; i++) {
                        values.put(key.read(request), value.read(request));
                    }
                    return values;
                }));
    }

    private static Codec<Object> array(Class<?> componentType, Codec<Object> element) {
        return untyped(Codec.<Object[]>of(
                (v, a) -> {
                    a.putInt(v.length);
                    for (Object e : v) {
                        element.write(a, e);
                    }
                },
                request -> {
                    Object[] values = (Object[]) Array.newInstance(componentType, count(request));
                    for (int i = 0; i < values.length; i++) {
                        values[i] = element.read(request);
                    }
                    return values;
                }));
    }

    /** A number of elements: each takes a byte at least, so that no more memory is taken than has come. */
    private static int count(Request request) {
        int count = request.getInt();
        if (count < 0 || count > request.remaining()) {
            throw new NexusException("the request from rank " + request.remote() + " has no collection next: "
                    + Integer.toUnsignedString(count) + " elements are announced in " + request.remaining() + " bytes");
        }
        return count;
    }

    @SuppressWarnings("EnumOrdinal") // both ends have the same type
    private static Codec<Object> enumeration(@Nullable Object[] constants) {
        Function<Request, Object> reader = request -> {
            int ordinal = request.getInt();
            Object constant = ordinal >= 0 && ordinal < constants.length ? constants[ordinal] : null;
            if (constant == null) {
                throw new NexusException("the request from rank " + request.remote() + " has number " + ordinal
                        + " of an enum with " + constants.length + " constants");
            }
            return constant;
        };
        return untyped(Codec.of((Object v, Arguments a) -> a.putInt(((Enum<?>) v).ordinal()), reader));
    }

    /** A value that may be null: a byte before it says so. */
    private static final class Nullables implements Codec<Object> {
        private @Nullable Codec<Object> codec;

        private Codec<Object> codec() {
            return Objects.requireNonNull(codec);
        }

        @Override
        public void write(Arguments arguments, @Nullable Object value) {
            arguments.putBoolean(value != null);
            if (value != null) {
                codec().write(arguments, value);
            }
        }

        @Override
        @SuppressWarnings("NullAway") // the types of this codec may be null
        public Object read(Request request) {
            return request.getBoolean() ? codec().read(request) : null;
        }
    }
}
