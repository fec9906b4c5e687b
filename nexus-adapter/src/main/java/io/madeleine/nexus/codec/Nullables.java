package io.madeleine.nexus.codec;

import io.madeleine.nexus.Arguments;
import io.madeleine.nexus.Codec;
import io.madeleine.nexus.Request;
import org.jspecify.annotations.Nullable;

/**
 * The codec of nullable values: a byte before the value says whether it is there.
 *
 * <p>Threading: as that of the values.
 */
public final class Nullables implements Codec<Object> {
    private final Codec<Object> codec;

    private Nullables(Codec<Object> codec) {
        this.codec = codec;
    }

    /** Makes a codec for nullable values of a codec for non-null values. */
    @SuppressWarnings("unchecked") // values are of the type that the codec was found for
    public static Codec<Object> of(Codec<?> codec) {
        return new Nullables((Codec<Object>) codec);
    }

    @Override
    public void write(Arguments arguments, @Nullable Object value) {
        arguments.putBoolean(value != null);
        if (value != null) {
            codec.write(arguments, value);
        }
    }

    @Override
    @SuppressWarnings("NullAway") // the types of this codec may be null
    public Object read(Request request) {
        return request.getBoolean() ? codec.read(request) : null;
    }
}
