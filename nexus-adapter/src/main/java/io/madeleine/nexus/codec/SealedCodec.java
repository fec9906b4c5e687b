package io.madeleine.nexus.codec;

import io.madeleine.nexus.Arguments;
import io.madeleine.nexus.Codec;
import io.madeleine.nexus.NexusException;
import io.madeleine.nexus.Request;
import java.lang.reflect.Modifier;
import java.lang.reflect.Type;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/**
 * The codec of a sealed type: the number of the permitted class, then the value of that class.
 *
 * <p>Threading: thread-safe.
 */
public final class SealedCodec implements Codec<Object> {
    private final Class<?> type;
    private final Map<Class<?>, Integer> numbers = new HashMap<>();
    private final List<Codec<Object>> permitted = new ArrayList<>();

    public SealedCodec(Type sealed, Function<Type, Codec<Object>> codecs) {
        this.type = Types.raw(sealed);
        for (Type leaf : leaves(sealed)) {
            numbers.put(Types.raw(leaf), permitted.size());
            permitted.add(codecs.apply(leaf));
        }
    }

    /** The permitted classes, including those of permitted sealed types. */
    public static List<Type> leaves(Type sealed) {
        List<Type> leaves = new ArrayList<>();
        addLeaves(sealed, leaves);
        return leaves;
    }

    private static void addLeaves(Type sealed, List<Type> leaves) {
        for (Class<?> each : Types.raw(sealed).getPermittedSubclasses()) {
            Type permitted = Types.permitted(each, sealed);
            if (each.isSealed() && !each.isEnum()) {
                addLeaves(permitted, leaves);
            } else if (!Modifier.isFinal(each.getModifiers()) && !each.isEnum()) {
                throw new IllegalArgumentException(
                        each.getName() + ", which " + Types.raw(sealed).getName()
                                + " permits, is non-sealed: expected records, enums and sealed types only");
            } else if (!leaves.contains(permitted)) {
                leaves.add(permitted);
            }
        }
    }

    @Override
    public void write(Arguments arguments, Object value) {
        Class<?> raw = value instanceof Enum<?> constant ? constant.getDeclaringClass() : value.getClass();
        Integer number = numbers.get(raw);
        if (number == null) {
            throw new NexusException(raw.getName() + " is not among what " + type.getName() + " permits");
        }
        arguments.putShort(number.shortValue());
        permitted.get(number).write(arguments, value);
    }

    @Override
    public Object read(Request request) {
        int number = request.getShort();
        if (number < 0 || number >= permitted.size()) {
            throw new NexusException("the request from rank " + request.remote() + " has class " + number + " of "
                    + type.getName() + ", which permits " + permitted.size());
        }
        return permitted.get(number).read(request);
    }
}
