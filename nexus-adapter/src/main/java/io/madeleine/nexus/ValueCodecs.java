package io.madeleine.nexus;

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
final class ValueCodecs {
    private ValueCodecs() {}

    /** Adds them all to {@code codecs}. */
    static void addTo(Codecs codecs) {
        codecs.builtIn(BigInteger.class, of((v, a) -> a.putBytes(v.toByteArray()), r -> new BigInteger(r.getBytes())));
        codecs.builtIn(
                BigDecimal.class,
                of((v, a) -> a.putInt(v.scale()).putBytes(v.unscaledValue().toByteArray()), r -> {
                    int scale = r.getInt();
                    return new BigDecimal(new BigInteger(r.getBytes()), scale);
                }));
        codecs.builtIn(
                Instant.class,
                of(
                        (v, a) -> a.putLong(v.getEpochSecond()).putInt(v.getNano()),
                        r -> Instant.ofEpochSecond(r.getLong(), r.getInt())));
        codecs.builtIn(
                Duration.class,
                of(
                        (v, a) -> a.putLong(v.getSeconds()).putInt(v.getNano()),
                        r -> Duration.ofSeconds(r.getLong(), r.getInt())));
        codecs.builtIn(LocalDate.class, localDate());
        codecs.builtIn(LocalTime.class, localTime());
        codecs.builtIn(
                LocalDateTime.class,
                of(
                        (v, a) -> {
                            localDate().write(a, v.toLocalDate());
                            localTime().write(a, v.toLocalTime());
                        },
                        r -> LocalDateTime.of(localDate().read(r), localTime().read(r))));
        codecs.builtIn(
                UUID.class,
                of(
                        (v, a) -> a.putLong(v.getMostSignificantBits()).putLong(v.getLeastSignificantBits()),
                        r -> new UUID(r.getLong(), r.getLong())));
        codecs.builtIn(Number.class, new Numbers(codecs));
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

        Numbers(Codecs all) {
            codecs = CLASSES.stream().map(all::find).toList();
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
