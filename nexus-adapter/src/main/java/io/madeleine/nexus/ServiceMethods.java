package io.madeleine.nexus;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The methods of the interfaces of remote services, as a context calls and serves them; remembers them until another
 * codec is registered.
 *
 * <p>Threading: thread-safe.
 */
final class ServiceMethods {
    private final Codecs codecs;
    private final long defaultTimeoutNs;
    private final Map<Class<?>, Known> known = new ConcurrentHashMap<>();

    /** The methods of an interface by their numbers, with the version of the codecs that they use. */
    private record Known(int version, Map<Long, ServiceMethod> methods) {}

    ServiceMethods(Codecs codecs, long defaultTimeoutNs) {
        this.codecs = codecs;
        this.defaultTimeoutNs = defaultTimeoutNs;
    }

    /** The methods of a service's interface, by their numbers. */
    Map<Long, ServiceMethod> of(Class<?> service) {
        int version = codecs.version();
        Known found = known.get(service);
        if (found == null || found.version() != version) {
            found = new Known(version, ServiceMethod.all(service, codecs, defaultTimeoutNs));
            known.put(service, found);
        }
        return found.methods();
    }
}
