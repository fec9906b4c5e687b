package io.madeleine.nexus;

import java.lang.reflect.Type;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Writes and reads all values of a service in place of {@link Codecs}, for interfaces whose two ends may have different
 * versions. An interface chooses a serialiser by its name ({@link RemoteService#serializer}); {@link
 * java.util.ServiceLoader} finds it with the interface's class loader. The serialiser decides how far types may differ.
 * The adapter still compares method names, the number of parameters, and which of them are streams.
 *
 * <p>Threading: thread-safe, and so are its codecs.
 */
public interface ServiceSerializer {
    /** The name by which interfaces choose the serialiser; the same at both ends. */
    String name();

    /** Why the serialiser cannot work in this JVM, and what mends it; empty if it can. */
    default Optional<String> unavailable() {
        return Optional.empty();
    }

    /**
     * The codecs of a service's values. The codecs never get null; primitives come in their boxes.
     *
     * @param service the interface
     * @param types the types of all its parameters, results and items, without type variables
     * @throws IllegalArgumentException if it cannot write and read one of them; the message says which and why
     */
    Map<Type, Codec<?>> codecs(Class<?> service, Set<Type> types);
}
