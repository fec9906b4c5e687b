package io.madeleine.nexus.codec;

import io.madeleine.nexus.Arguments;
import io.madeleine.nexus.Codec;
import io.madeleine.nexus.NexusException;
import io.madeleine.nexus.Request;
import java.lang.reflect.Type;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.util.List;
import java.util.UUID;
import java.util.function.BiConsumer;
import java.util.function.Function;

/**
 * The codecs of the JDK's value types: numbers, times, identifiers.
 *
 * <p>Threading: stateless.
 */
public final class ValueCodecs {
    private ValueCodecs() {}

    /** Takes the codecs. */
    @FunctionalInterface
    public interface Target {
        /** Adds the codec of a type. */
        <T> void add(Class<T> type, Codec<T> codec);
    }

    /** Adds them all to {@code target}; {@code codecs} finds those of the types that one of them consists of. */
    public static void addTo(Target target, Function<Type, Codec<Object>> codecs) {
        target.add(BigInteger.class, of((v, a) -> a.putBytes(v.toByteArray()), r -> new BigInteger(r.getBytes())));
        target.add(
                BigDecimal.class,
                of((v, a) -> a.putInt(v.scale()).putBytes(v.unscaledValue().toByteArray()), r -> {
                    int scale = r.getInt();
                    return new BigDecimal(new BigInteger(r.getBytes()), scale);
                }));
        target.add(
                Instant.class,
                of(
                        (v, a) -> a.putLong(v.getEpochSecond()).putInt(v.getNano()),
                        r -> Instant.ofEpochSecond(r.getLong(), r.getInt())));
        target.add(
                Duration.class,
                of(
                        (v, a) -> a.putLong(v.getSeconds()).putInt(v.getNano()),
                        r -> Duration.ofSeconds(r.getLong(), r.getInt())));
        target.add(LocalDate.class, localDate());
        target.add(LocalTime.class, localTime());
        target.add(
                LocalDateTime.class,
                of(
                        (v, a) -> {
                            localDate().write(a, v.toLocalDate());
                            localTime().write(a, v.toLocalTime());
                        },
                        r -> LocalDateTime.of(localDate().read(r), localTime().read(r))));
        target.add(
                UUID.class,
                of(
                        (v, a) -> a.putLong(v.getMostSignificantBits()).putLong(v.getLeastSignificantBits()),
                        r -> new UUID(r.getLong(), r.getLong())));
        target.add(Number.class, new Numbers(codecs));
    }

    private static <T> Codec<T> of(BiConsumer<T, Arguments> writer, Function<Request, T> reader) {
        return Codec.of(writer, reader);
    }

    private static Codec<LocalDate> localDate() {
        return of((v, a) -> a.putLong(v.toEpochDay()), r -> LocalDate.ofEpochDay(r.getLong()));
    }

    private static Codec<LocalTime> localTime() {
        return of((v, a) -> a.putLong(v.toNanoOfDay()), r -> LocalTime.ofNanoOfDay(r.getLong()));
    }

    /** The codec of {@link Number}: the index of the class, then its value. */
    private static final class Numbers implements Codec<Number> {
        private static final List<Class<? extends Number>> CLASSES = List.of(
                Byte.class,
                Short.class,
                Integer.class,
                Long.class,
                Float.class,
                Double.class,
                BigInteger.class,
                BigDecimal.class);

        private final List<Codec<Object>> codecs;

        Numbers(Function<Type, Codec<Object>> all) {
            codecs = CLASSES.stream().<Codec<Object>>map(all).toList();
        }

        @Override
        public void write(Arguments arguments, Number value) {
            int which = CLASSES.indexOf(value.getClass());
            if (which < 0) {
                throw new NexusException(
                        "a Number is a " + value.getClass().getName() + ": expected one of " + CLASSES);
            }
            arguments.putByte((byte) which);
            codecs.get(which).write(arguments, value);
        }

        @Override
        public Number read(Request request) {
            int which = request.getByte();
            if (which < 0 || which >= CLASSES.size()) {
                throw new NexusException(
                        "the request from rank " + request.remote() + " has a Number of kind " + which + " next");
            }
            return (Number) codecs.get(which).read(request);
        }
    }
}
