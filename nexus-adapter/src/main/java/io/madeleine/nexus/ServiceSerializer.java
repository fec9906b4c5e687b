package io.madeleine.nexus;

import java.lang.reflect.Type;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Writes and reads the values of whole services in the place of {@link Codecs}: for interfaces whose two ends are of different
 * versions, by a serialiser that lets types evolve. An interface chooses one by its name, {@link RemoteService#serializer}; it is
 * found by {@link java.util.ServiceLoader}, with the interface's class loader. How far types may differ is the serialiser's
 * affair then; names and numbers of parameters, and which of them are streams, are still compared.
 *
 * <p>Threading: thread-safe, and so are its codecs.
 */
public interface ServiceSerializer {
    /** As interfaces name it; the same at both ends. */
    String name();

    /** Why it cannot work in this JVM, and what mends it; empty if it can. */
    default Optional<String> unavailable() {
        return Optional.empty();
    }

    /**
     * The codecs of a service's values. Values that are not null are written, primitives in their boxes.
     *
     * @param service the interface
     * @param types of all its parameters, results and items, without type variables
     * @throws IllegalArgumentException if it cannot write and read one of them; says which and why
     */
    Map<Type, Codec<?>> codecs(Class<?> service, Set<Type> types);
}
