package io.madeleine.nexus.codec;

import io.madeleine.nexus.Codec;
import io.madeleine.nexus.ServiceSerializer;
import java.lang.reflect.Type;
import java.util.Map;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;

/**
 * Finds the serialiser that a service's interface names.
 *
 * <p>Threading: stateless.
 */
public final class Serializers {
    private Serializers() {}

    /** The codecs of a service's values, as a function of their types. */
    public static Function<Type, Codec<Object>> codecs(Class<?> service, String name, Set<Type> types) {
        Map<Type, Codec<?>> codecs = find(service, name).codecs(service, types);
        return type -> {
            Codec<?> codec = codecs.get(type);
            if (codec == null) {
                throw new IllegalArgumentException(
                        "the serialiser " + name + " gives no codec for " + type.getTypeName());
            }
            return Nullables.of(codec);
        };
    }

    private static ServiceSerializer find(Class<?> service, String name) {
        Map<String, ServiceSerializer> all = new TreeMap<>();
        for (ServiceSerializer each : ServiceLoader.load(ServiceSerializer.class, service.getClassLoader())) {
            all.putIfAbsent(each.name(), each);
        }
        for (ServiceSerializer each :
                ServiceLoader.load(ServiceSerializer.class, ServiceSerializer.class.getClassLoader())) {
            all.putIfAbsent(each.name(), each);
        }
        ServiceSerializer found = all.get(name);
        if (found == null) {
            throw new IllegalArgumentException(service.getName() + " is served by the serialiser \"" + name
                    + "\" (@RemoteService.serializer), which was not found: expected its module among the dependencies"
                    + " (\"fory\" is in madeleine-nexus-fory); found are " + all.keySet());
        }
        found.unavailable().ifPresent(why -> {
            throw new IllegalArgumentException(service.getName() + " is served by the serialiser \"" + name
                    + "\" (@RemoteService.serializer), which cannot work here: " + why);
        });
        return found;
    }
}
