package io.madeleine.nexus;

/**
 * Writes values of a type and reads them back, without Java serialization.
 *
 * <p>Threading: as the implementation says; those of this package are stateless.
 *
 * @param <T> the type
 */
public interface Codec<T> {
    /** Appends a value to the arguments. */
    void write(Arguments arguments, T value);

    /** Takes the value that {@link #write} appended. */
    T read(Request request);

    /** Makes a codec of two functions, as in {@code Codec.of(Point::write, Point::read)}. */
    static <T> Codec<T> of(
            java.util.function.BiConsumer<T, Arguments> writer, java.util.function.Function<Request, T> reader) {
        return new Codec<>() {
            @Override
            public void write(Arguments arguments, T value) {
                writer.accept(value, arguments);
            }

            @Override
            public T read(Request request) {
                return reader.apply(request);
            }
        };
    }
}
