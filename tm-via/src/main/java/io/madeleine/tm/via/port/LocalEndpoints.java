package io.madeleine.tm.via.port;

import java.util.HashMap;
import java.util.Map;

/**
 * The endpoints of this process over the provider shm. Two endpoints of one process share one mapping of their memory:
 * after one is closed, a send of the other to it would end the JVM. So an endpoint is closed only when no other one of
 * this process knows it any more.
 *
 * <p>Threading: thread-safe.
 */
public final class LocalEndpoints {
    private static final Map<String, Endpoint> OPEN = new HashMap<>();

    private static final class Endpoint {
        int users;
        Runnable closing = () -> {};
        boolean closes;
    }

    private LocalEndpoints() {}

    /** An endpoint has been opened. */
    public static synchronized void open(String name) {
        OPEN.put(name, new Endpoint());
    }

    /** Another endpoint has added this one to its peers; does nothing if it belongs to another process. */
    public static synchronized void use(String name) {
        Endpoint endpoint = OPEN.get(name);
        if (endpoint != null) {
            endpoint.users++;
        }
    }

    /** Another endpoint sends nothing more to this one. */
    public static void release(String name) {
        finish(name, false, () -> {});
    }

    /** Closes an endpoint, now or when no other one knows it any more. */
    public static void close(String name, Runnable closing) {
        finish(name, true, closing);
    }

    private static void finish(String name, boolean closes, Runnable closing) {
        Runnable due = () -> {};
        synchronized (LocalEndpoints.class) {
            Endpoint endpoint = OPEN.get(name);
            if (endpoint == null) {
                due = closing;
            } else {
                if (closes) {
                    endpoint.closes = true;
                    endpoint.closing = closing;
                } else if (endpoint.users > 0) {
                    endpoint.users--;
                }
                if (endpoint.closes && endpoint.users == 0) {
                    OPEN.remove(name);
                    due = endpoint.closing;
                }
            }
        }
        due.run();
    }
}
