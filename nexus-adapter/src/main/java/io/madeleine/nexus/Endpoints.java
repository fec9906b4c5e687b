package io.madeleine.nexus;

import io.madeleine.nexus.wire.IntTable;
import io.madeleine.nexus.wire.RequestLayout;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * The endpoints of a context by their numbers. The system endpoint, for the adapter's own requests, always exists.
 *
 * <p>Threading: thread-safe.
 */
final class Endpoints {
    private final Context context;
    private final Endpoint system;
    private final IntTable<Endpoint> all = new IntTable<>();
    private final AtomicInteger last = new AtomicInteger(RequestLayout.SYSTEM_ENDPOINT);

    Endpoints(Context context) {
        this.context = context;
        this.system = new Endpoint(context, RequestLayout.SYSTEM_ENDPOINT, "nexus");
        all.putIfAbsent(RequestLayout.SYSTEM_ENDPOINT, system);
    }

    Endpoint system() {
        return system;
    }

    Endpoint create() {
        while (true) {
            int id = last.incrementAndGet() & Integer.MAX_VALUE;
            Endpoint created = new Endpoint(context, id, null);
            if (id != RequestLayout.SYSTEM_ENDPOINT && all.putIfAbsent(id, created)) {
                return created;
            }
        }
    }

    Endpoint create(String name) {
        int id = RequestLayout.endpointId(name);
        Endpoint created = new Endpoint(context, id, name);
        if (!all.putIfAbsent(id, created)) {
            throw new IllegalArgumentException(find(id) + " exists already, with the number that \"" + name
                    + "\" would have: choose another name");
        }
        return created;
    }

    @Nullable
    Endpoint find(int id) {
        return all.get(id);
    }

    void remove(Endpoint endpoint) {
        if (endpoint != system) {
            all.remove(endpoint.id());
        }
    }
}
