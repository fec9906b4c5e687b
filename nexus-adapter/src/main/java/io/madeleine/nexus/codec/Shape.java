package io.madeleine.nexus.codec;

import io.madeleine.nexus.Arguments;
import io.madeleine.nexus.NexusException;
import io.madeleine.nexus.Request;
import io.madeleine.nexus.wire.Bytes;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.lang.reflect.TypeVariable;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/**
 * A description of the values of a method: the types of its parameters and result, and the parts of every record, enum
 * and sealed type among them. Both ends of a call must have the same shape, or they would misread each other.
 *
 * <p>Threading: immutable.
 *
 * @param entries the parts and their types, in the order in which they are written
 */
public record Shape(List<Entry> entries) {
    private static final int MAX_NAMED = 4;
    private static final int MAX_ENTRIES = 1 << 16;

    /** A part and its type, such as {@code "Order.quantity"} and {@code "int"}. */
    public record Entry(String what, String type) {}

    /** A digest of all entries. */
    public long digest() {
        try {
            MessageDigest sha = MessageDigest.getInstance("SHA-256");
            for (Entry entry : entries) {
                sha.update((entry.what() + '\0' + entry.type() + '\n').getBytes(StandardCharsets.UTF_8));
            }
            return Bytes.of(sha.digest()).getLong(0);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e); // every JDK has it
        }
    }

    public void write(Arguments arguments) {
        arguments.putInt(entries.size());
        for (Entry entry : entries) {
            arguments.putString(entry.what()).putString(entry.type());
        }
    }

    public static Shape read(Request request) {
        int count = request.getInt();
        if (count < 0 || count > Math.min(MAX_ENTRIES, request.remaining())) {
            throw new NexusException("rank " + request.remote() + " describes a method in " + count + " parts: expected"
                    + " no more than its message has");
        }
        List<Entry> entries = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            entries.add(new Entry(request.getString(), request.getString()));
        }
        return new Shape(entries);
    }

    /** Whether it describes a method of that name. */
    public boolean isOf(String method) {
        return entries.contains(new Entry("method", method));
    }

    /** Whether this has more in common with {@code mine} than {@code other} has; all describe methods of one name. */
    public boolean isCloser(Shape mine, Shape other) {
        return common(mine) > other.common(mine);
    }

    private long common(Shape other) {
        return entries.stream().filter(other.entries::contains).count();
    }

    /** A text that says where another shape differs. */
    public String difference(Shape other) {
        Map<String, String> mine = map();
        Map<String, String> theirs = other.map();
        List<String> found = new ArrayList<>();
        mine.forEach((what, type) -> {
            String its = theirs.get(what);
            if (its == null) {
                found.add(what + " (" + type + ") is not there");
            } else if (!its.equals(type)) {
                found.add(what + " is " + type + " here and " + its + " there");
            }
        });
        theirs.forEach((what, type) -> {
            if (!mine.containsKey(what)) {
                found.add(what + " (" + type + ") is there, and not here");
            }
        });
        if (found.isEmpty()) {
            List<String> here = List.copyOf(mine.keySet());
            List<String> their = List.copyOf(theirs.keySet());
            for (int i = 0; i < here.size() && found.isEmpty(); i++) {
                if (!here.get(i).equals(their.get(i))) {
                    found.add("the order differs: " + here.get(i) + " comes where " + their.get(i) + " comes there");
                }
            }
        }
        String more = found.size() > MAX_NAMED ? "; and " + (found.size() - MAX_NAMED) + " more" : "";
        return found.stream().limit(MAX_NAMED).collect(Collectors.joining("; ")) + more;
    }

    private Map<String, String> map() {
        Map<String, String> map = new LinkedHashMap<>();
        entries.forEach(entry -> map.put(entry.what(), entry.type()));
        return map;
    }

    /**
     * Describes one method.
     *
     * <p>Threading: confined to caller.
     */
    public static final class Builder {
        private final Predicate<Type> isOwn;
        private final Predicate<Type> isBuiltIn;
        private final List<Entry> entries = new ArrayList<>();
        private final Map<Type, String> names = new HashMap<>();
        private final Set<String> used = new HashSet<>();
        private final Queue<Type> undescribed = new ArrayDeque<>();

        /**
         * Creates a description without entries.
         *
         * @param isOwn whether the program has registered the codec of a type
         * @param isBuiltIn whether the codec of a type is not derived from its parts
         */
        public Builder(Predicate<Type> isOwn, Predicate<Type> isBuiltIn) {
            this.isOwn = isOwn;
            this.isBuiltIn = isBuiltIn;
        }

        /** Adds a value, such as {@code "parameter 1"} of type {@code "stream of int"}. */
        public Builder add(String what, String prefix, Type type) {
            return add(what, prefix + name(type));
        }

        public Builder add(String what, String type) {
            entries.add(new Entry(what, type));
            return this;
        }

        public Shape build() {
            for (Type next = undescribed.poll(); next != null; next = undescribed.poll()) {
                describe(next);
            }
            return new Shape(List.copyOf(entries));
        }

        private String name(Type type) {
            String known = names.get(type);
            if (known == null) {
                known = isOwn.test(type) ? Types.raw(type).getSimpleName() + " by a codec of its own" : newName(type);
                names.put(type, known);
            }
            return known;
        }

        private String newName(Type type) {
            return switch (type) {
                case Types.Of of -> {
                    String arguments =
                            of.arguments().stream().map(this::name).collect(Collectors.joining(", ", "<", ">"));
                    yield nameOfClass(of, of.raw(), arguments);
                }
                case Types.ArrayOf array -> name(array.component()) + "[]";
                case Class<?> raw when raw.isArray() -> name(raw.getComponentType()) + "[]";
                case Class<?> raw -> nameOfClass(raw, raw, "");
                default -> type.getTypeName();
            };
        }

        private String nameOfClass(Type type, Class<?> raw, String arguments) {
            if (!raw.isRecord() && !raw.isEnum() && !raw.isSealed() || isBuiltIn.test(type)) {
                return raw.getSimpleName() + arguments;
            }
            StringBuilder name = new StringBuilder(raw.getSimpleName()).append(arguments);
            while (!used.add(name.toString())) {
                name.append('\''); // a class of the same name in another package
            }
            undescribed.add(type);
            return name.toString();
        }

        private void describe(Type type) {
            Class<?> raw = Types.raw(type);
            String name = name(type);
            if (raw.isRecord()) {
                Map<TypeVariable<?>, Type> variables = Types.variables(type);
                for (RecordComponent component : raw.getRecordComponents()) {
                    add(name + "." + component.getName(), "", Types.resolve(component.getGenericType(), variables));
                }
            } else if (raw.isEnum()) {
                for (Object constant : raw.getEnumConstants()) {
                    add(name + "." + ((Enum<?>) constant).name(), "constant");
                }
            } else {
                for (Type leaf : SealedCodec.leaves(type)) {
                    add(name + " as " + name(leaf), "permitted");
                }
            }
        }
    }
}
