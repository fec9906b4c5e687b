package io.madeleine.nexus;

import io.madeleine.nexus.codec.DerivedCodecs;
import io.madeleine.nexus.codec.Nullables;
import io.madeleine.nexus.codec.ValueCodecs;
import java.lang.foreign.MemorySegment;
import java.lang.reflect.Type;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Finds the codec of a type: primitives and their boxes, strings, arrays, enums, {@link MemorySegment}, {@link
 * Startpoint}, {@code Number}, {@code BigInteger}, {@code BigDecimal}, {@code Instant}, {@code Duration}, {@code
 * LocalDate}, {@code LocalTime}, {@code LocalDateTime}, {@code UUID}; {@code List}, {@code Set}, {@code Map} and {@code
 * Optional} of such types; records of such types, generic ones included; sealed types that permit such types; and all
 * {@linkplain #register registered} types. Values other than primitives may be null. Values nest at most {@link
 * ContextOptions#maxDepth} deep.
 *
 * <p>A received segment is heap memory, aligned for longs. To receive segments into other memory, register a codec that
 * uses {@link Request#getSegment}.
 *
 * <p>Threading: thread-safe.
 */
public final class Codecs {
    private static final int MOST_TYPES_AT_ONCE = 1_000;

    private final int maxDepth;
    private final Map<Type, Codec<Object>> known = new ConcurrentHashMap<>();

    /** Codecs under construction, for types that contain themselves; moved to {@link #known} when all are complete. */
    private final Map<Type, Codec<Object>> beingMade = new HashMap<>();

    /** The types whose codec the program has registered. */
    private final Set<Type> own = ConcurrentHashMap.newKeySet();

    private final Set<Type> builtIn = new HashSet<>();

    /** How often codecs have been registered. */
    private volatile int version;

    /** Codecs for values that nest at most {@code maxDepth} deep. */
    Codecs(int maxDepth) {
        this.maxDepth = maxDepth;
        add(boolean.class, Boolean.class, Codec.of((v, a) -> a.putBoolean(v), Request::getBoolean));
        add(byte.class, Byte.class, Codec.of((v, a) -> a.putByte(v), Request::getByte));
        add(short.class, Short.class, Codec.of((v, a) -> a.putShort(v), Request::getShort));
        add(char.class, Character.class, Codec.of((v, a) -> a.putChar(v), Request::getChar));
        add(int.class, Integer.class, Codec.of((v, a) -> a.putInt(v), Request::getInt));
        add(long.class, Long.class, Codec.of((v, a) -> a.putLong(v), Request::getLong));
        add(float.class, Float.class, Codec.of((v, a) -> a.putFloat(v), Request::getFloat));
        add(double.class, Double.class, Codec.of((v, a) -> a.putDouble(v), Request::getDouble));
        builtIn(String.class, Codec.of((v, a) -> a.putString(v), Request::getString));
        builtIn(boolean[].class, Codec.of((v, a) -> a.putBytes(bytes(v)), request -> flags(request.getBytes())));
        builtIn(byte[].class, Codec.of((v, a) -> a.putBytes(v), Request::getBytes));
        builtIn(short[].class, Codec.of((v, a) -> a.putShorts(v), Request::getShorts));
        builtIn(char[].class, Codec.of((v, a) -> a.putChars(v), Request::getChars));
        builtIn(int[].class, Codec.of((v, a) -> a.putInts(v), Request::getInts));
        builtIn(long[].class, Codec.of((v, a) -> a.putLongs(v), Request::getLongs));
        builtIn(float[].class, Codec.of((v, a) -> a.putFloats(v), Request::getFloats));
        builtIn(double[].class, Codec.of((v, a) -> a.putDoubles(v), Request::getDoubles));
        builtIn(
                MemorySegment.class,
                Codec.of((v, a) -> a.putSegment(v), request -> request.getSegment(Codecs::onHeap)));
        builtIn(Startpoint.class, Codec.of((v, a) -> a.putStartpoint(v), Request::getStartpoint));
        ValueCodecs.addTo(this::builtIn, this::find);
    }

    private static byte[] bytes(boolean[] flags) {
        byte[] bytes = new byte[flags.length];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = (byte) (flags[i] ? 1 : 0);
        }
        return bytes;
    }

    private static boolean[] flags(byte[] bytes) {
        boolean[] flags = new boolean[bytes.length];
        for (int i = 0; i < flags.length; i++) {
            flags[i] = bytes[i] != 0;
        }
        return flags;
    }

    /**
     * Heap memory, aligned for longs; {@link java.lang.foreign.Arena#ofAuto} takes several times as long to allocate.
     */
    private static MemorySegment onHeap(long bytes, long alignment) {
        return MemorySegment.ofArray(new long[Math.toIntExact((bytes + Long.BYTES - 1) / Long.BYTES)])
                .asSlice(0, bytes);
    }

    private <T> void add(Class<T> primitive, Class<T> box, Codec<T> codec) {
        known.put(primitive, untyped(codec));
        builtIn.add(primitive);
        builtIn(box, codec);
    }

    private <T> void builtIn(Class<T> type, Codec<T> codec) {
        builtIn.add(type);
        known.put(type, Nullables.of(codec));
    }

    boolean isBuiltIn(Type type) {
        return builtIn.contains(type);
    }

    /** Another number after each change: what was made of these codecs before is out of date. */
    int version() {
        return version;
    }

    boolean isOwn(Type type) {
        return own.contains(type);
    }

    /**
     * Registers the codec of a type, or replaces it, for services that are not in use yet; both ends must register the
     * same.
     */
    public synchronized <T> Codecs register(Class<T> type, Codec<T> codec) {
        Objects.requireNonNull(type, "type");
        Objects.requireNonNull(codec, "codec");
        own.add(type);
        // derived codecs may use the replaced one
        known.keySet().removeIf(each -> !builtIn.contains(each) && !own.contains(each));
        known.put(type, Nullables.of(codec));
        version++;
        return this;
    }

    @SuppressWarnings("unchecked") // values are of the type that the codec was found for
    private static Codec<Object> untyped(Codec<?> codec) {
        return (Codec<Object>) codec;
    }

    /**
     * The codec of a type.
     *
     * @throws IllegalArgumentException if there is none; the message lists the accepted types
     */
    @SuppressWarnings("unchecked") // found by this type
    public <T> Codec<T> of(Class<T> type) {
        Objects.requireNonNull(type, "type");
        return (Codec<T>) find(type);
    }

    /** The codec of a type without type variables. */
    Codec<Object> find(Type type) {
        Codec<Object> codec = known.get(type);
        return codec == null ? findNew(type) : codec;
    }

    /** Makes a codec; a type that contains itself finds the codec under construction. */
    private synchronized Codec<Object> findNew(Type type) {
        Codec<Object> codec = known.get(type);
        if (codec == null) {
            codec = beingMade.get(type);
        }
        if (codec != null) {
            return codec;
        }
        if (beingMade.size() >= MOST_TYPES_AT_ONCE) {
            throw new IllegalArgumentException(type.getTypeName() + " is one of more than " + MOST_TYPES_AT_ONCE
                    + " types that one type consists of: expected fewer; does it contain itself with another type"
                    + " argument each time?");
        }
        boolean isFirst = beingMade.isEmpty();
        Nesting made = new Nesting(maxDepth);
        beingMade.put(type, made);
        try {
            made.codec = DerivedCodecs.derive(type, this::find);
            if (isFirst) {
                known.putAll(beingMade);
            }
        } catch (StackOverflowError e) {
            throw new IllegalArgumentException(
                    type.getTypeName()
                            + " contains itself with another type argument each time: expected a finite number of"
                            + " types",
                    e);
        } finally {
            if (isFirst) {
                beingMade.clear();
            }
        }
        return made;
    }

    /** As {@link Nullables}, for values that contain others: counts the depth. */
    private static final class Nesting implements Codec<Object> {
        private final int maxDepth;
        private @Nullable Codec<Object> codec;

        Nesting(int maxDepth) {
            this.maxDepth = maxDepth;
        }

        private Codec<Object> codec() {
            return Objects.requireNonNull(codec);
        }

        @Override
        public void write(Arguments arguments, @Nullable Object value) {
            arguments.putBoolean(value != null);
            if (value == null) {
                return;
            }
            arguments.enter(maxDepth);
            try {
                codec().write(arguments, value);
            } finally {
                arguments.leave();
            }
        }

        @Override
        @SuppressWarnings("NullAway") // the types of this codec may be null
        public Object read(Request request) {
            if (!request.getBoolean()) {
                return null;
            }
            request.enter(maxDepth);
            try {
                return codec().read(request);
            } finally {
                request.leave();
            }
        }
    }
}
