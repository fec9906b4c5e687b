package io.madeleine.nexus.codec;

import io.madeleine.nexus.Arguments;
import io.madeleine.nexus.Codec;
import io.madeleine.nexus.NexusException;
import io.madeleine.nexus.Request;
import java.lang.reflect.Array;
import java.lang.reflect.Type;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The codecs of types that consist of others: records, sealed types, enums, arrays and collections.
 *
 * <p>Threading: stateless.
 */
public final class DerivedCodecs {
    /** The first capacity of an array whose elements are being read. */
    private static final int FIRST_ELEMENTS = 64;

    private DerivedCodecs() {}

    /**
     * Makes the codec of a type, for values that are not null; {@code codecs} finds those of its parts.
     *
     * @throws IllegalArgumentException if there is none; the message lists the accepted types
     */
    public static Codec<Object> derive(Type type, Function<Type, Codec<Object>> codecs) {
        return switch (type) {
            case Class<?> raw when raw.isRecord() -> new RecordCodec(raw, codecs);
            case Class<?> raw when raw.isEnum() -> enumeration(raw.getEnumConstants());
            case Class<?> raw when raw.isSealed() -> new SealedCodec(raw, codecs);
            case Class<?> raw when raw.isArray() -> array(raw.getComponentType(), codecs.apply(raw.getComponentType()));
            case Types.ArrayOf array -> array(Types.raw(array.component()), codecs.apply(array.component()));
            case Types.Of of -> generic(of, codecs);
            default -> throw unknown(type);
        };
    }

    private static IllegalArgumentException unknown(Type type) {
        return new IllegalArgumentException(
                "there is no codec for " + type.getTypeName() + ": expected a primitive, its"
                        + " box, a String, an array, an enum, a record, a sealed type, a number or time of the JDK,"
                        + " MemorySegment, Startpoint, List, Set, Map or Optional of such, or a type that was added"
                        + " with Context.codecs().register");
    }

    private static Codec<Object> generic(Types.Of type, Function<Type, Codec<Object>> codecs) {
        Class<?> raw = type.raw();
        Type first = type.arguments().getFirst();
        if (raw == List.class || raw == Collection.class) {
            return collection(codecs.apply(first), ArrayList::new);
        }
        if (raw == Set.class) {
            return collection(codecs.apply(first), LinkedHashSet::new);
        }
        if (raw == Optional.class) {
            return optional(codecs.apply(first));
        }
        if (raw == Map.class) {
            return map(codecs.apply(first), codecs.apply(type.arguments().get(1)));
        }
        if (raw.isRecord()) {
            return new RecordCodec(type, codecs);
        }
        if (raw.isSealed()) {
            return new SealedCodec(type, codecs);
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
                    int count = count(request);
                    Object[] values = (Object[]) Array.newInstance(componentType, Math.min(count, FIRST_ELEMENTS));
                    for (int i = 0; i < count; i++) {
                        if (i == values.length) {
                            values = Arrays.copyOf(values, (int) Math.min(count, 2L * i));
                        }
                        values[i] = element.read(request);
                    }
                    return values;
                }));
    }

    /**
     * Reads a number of elements, each of which takes a byte at least. Do not allocate by this number: nested
     * collections could each announce all remaining bytes.
     */
    private static int count(Request request) {
        int count = request.getInt();
        if (count < 0 || count > request.remaining()) {
            throw new NexusException("the request from rank " + request.remote() + " has no collection next: "
                    + Integer.toUnsignedString(count) + " elements are announced in " + request.remaining() + " bytes");
        }
        return count;
    }

    @SuppressWarnings("EnumOrdinal") // the shapes of both ends are compared, with the order of constants
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

    @SuppressWarnings("unchecked") // values are of the type that the codec was found for
    private static Codec<Object> untyped(Codec<?> codec) {
        return (Codec<Object>) codec;
    }
}
