package io.madeleine.nexus.fory;

import io.madeleine.nexus.Codec;
import io.madeleine.nexus.ServiceSerializer;
import java.lang.reflect.Type;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.apache.fory.Fory;

/**
 * Apache Fory in its compatible mode. Components of records, fields of classes and constants of enums may be added and
 * removed; a component or field that the other end lacks is read as null, 0 or false. Only classes that the interface's
 * types mention are written and read.
 *
 * <p>Threading: thread-safe.
 */
public final class ForySerializer implements ServiceSerializer {
    /** The name for interfaces: {@code @RemoteService(serializer = ForySerializer.NAME)}. */
    public static final String NAME = "fory";

    /** Creates the serialiser, for {@link java.util.ServiceLoader}. */
    public ForySerializer() {}

    /** The result of one attempt to start Fory in this JVM, made on first use. */
    private static final class Availability {
        static final Optional<String> WHY_NOT = tried();

        private Availability() {}

        private static Optional<String> tried() {
            try {
                Fory fory =
                        ForyPool.builder(ForySerializer.class.getClassLoader()).build();
                Object read = fory.deserialize(fory.serialize("fory"));
                return "fory".equals(read) ? Optional.empty() : Optional.of("Apache Fory does not read what it writes");
            } catch (Throwable e) { // mostly errors of class initialisers
                return Optional.of("Apache Fory does not start, " + rootOf(e)
                        + ": it needs the JVM flag --add-opens java.base/java.lang.invoke=org.apache.fory.core"
                        + " (on the class path =ALL-UNNAMED), or else --sun-misc-unsafe-memory-access=allow");
            }
        }

        private static Throwable rootOf(Throwable thrown) {
            Throwable root = thrown;
            for (Throwable next = root; next != null; next = next.getCause()) {
                root = next;
            }
            return root;
        }
    }

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public Optional<String> unavailable() {
        return Availability.WHY_NOT;
    }

    @Override
    public Map<Type, Codec<?>> codecs(Class<?> service, Set<Type> types) {
        Reachable reachable = new Reachable();
        types.forEach(reachable::add);
        ForyPool pool = new ForyPool(service.getClassLoader(), reachable.classes());
        Codec<Object> codec = Codec.of(
                (value, arguments) -> arguments.putBytes(pool.write(value)), request -> pool.read(request.getBytes()));
        Map<Type, Codec<?>> codecs = new HashMap<>();
        types.forEach(type -> codecs.put(type, codec));
        return codecs;
    }
}
