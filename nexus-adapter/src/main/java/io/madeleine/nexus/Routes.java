package io.madeleine.nexus;

import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The addresses where a node listens, and the results of connecting to them. A failed address is not tried again for a
 * pause, which doubles with each failure, so that callers do not wait for it again and again.
 *
 * <p>Threading: thread-safe; one thread connects at a time.
 */
final class Routes {
    private static final long FIRST_PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(250);
    private static final long LONGEST_PAUSE_NS = TimeUnit.SECONDS.toNanos(30);

    private final Node node;
    private final Peer peer;
    private final Map<WanAddress, Route> routes = new LinkedHashMap<>();
    private final ReentrantLock connecting = new ReentrantLock();

    /** The state of an address. */
    private static final class Route {
        private @Nullable WanWay way;
        private @Nullable String trouble;
        private long pauseNs = FIRST_PAUSE_NS;
        private long restsUntilNs;

        boolean mayBeTried() {
            return way == null && (trouble == null || System.nanoTime() - restsUntilNs >= 0);
        }
    }

    Routes(Node node, Peer peer) {
        this.node = node;
        this.peer = peer;
    }

    /** Adds addresses where the node listens. */
    synchronized void add(List<WanAddress> addresses) {
        for (WanAddress address : addresses) {
            if (routes.size() < WanAddress.MAX_COUNT) {
                routes.putIfAbsent(address, new Route());
            }
        }
    }

    synchronized List<WanAddress> addresses() {
        return List.copyOf(routes.keySet());
    }

    private static boolean isMeant(WanAddress address, String[] methods) {
        for (String word : methods) {
            if (word.equals("wan") || word.equals(address.toString())) {
                return true;
            }
        }
        return methods.length == 0;
    }

    /** Whether there is an address that may be tried now. */
    synchronized boolean mayConnect(String[] methods) {
        return !tries(methods).isEmpty();
    }

    private synchronized List<WanAddress> tries(String[] methods) {
        List<WanAddress> tries = new ArrayList<>();
        routes.forEach((address, route) -> {
            if (isMeant(address, methods) && route.mayBeTried()) {
                tries.add(address);
            }
        });
        return tries;
    }

    private synchronized @Nullable WanWay connected(String[] methods) {
        for (Map.Entry<WanAddress, Route> entry : routes.entrySet()) {
            WanWay way = entry.getValue().way;
            if (way != null && isMeant(entry.getKey(), methods)) {
                return way;
            }
        }
        return null;
    }

    /** Connects to the first address that answers, with the connect timeout for each; null if none does. */
    @Nullable
    Way connectAny(String[] methods) {
        if (!mayConnect(methods)) {
            return connected(methods);
        }
        connecting.lock();
        try {
            WanWay made = connected(methods); // connected by another thread meanwhile
            if (made != null) {
                return made;
            }
            for (WanAddress address : tries(methods)) {
                WanWay way = connect(address);
                if (way != null) {
                    return way;
                }
            }
            return null;
        } finally {
            connecting.unlock();
        }
    }

    private @Nullable WanWay connect(WanAddress address) {
        WanWay way;
        try {
            way = node.attaching().connect(peer, address);
        } catch (IOException e) {
            Attaching.throwIfInterrupted(e);
            failed(address, WanReader.text(e));
            return null;
        }
        connected(way);
        try {
            way.start();
            return way;
        } catch (IOException _) {
            return null; // the way is lost, and its address has failed with it
        }
    }

    private synchronized void failed(WanAddress address, String why) {
        Route route = routes.get(address);
        if (route != null) {
            route.way = null;
            route.trouble = why;
            route.restsUntilNs = System.nanoTime() + route.pauseNs;
            route.pauseNs = Math.min(2 * route.pauseNs, LONGEST_PAUSE_NS);
        }
    }

    /** Notes that a connection has been made. */
    synchronized void connected(WanWay way) {
        Route route = way.target() == null ? null : routes.get(way.target());
        if (route != null) {
            route.way = way;
            route.trouble = null;
            route.pauseNs = FIRST_PAUSE_NS;
        }
    }

    /** Notes that a connection is lost. */
    void lost(WanWay way, String why) {
        WanAddress target = way.target();
        if (target != null) {
            failed(target, why);
        }
    }

    /** Adds the addresses that are not connected to the table of methods. */
    synchronized void addStatus(List<MethodStatus> table) {
        routes.forEach((address, route) -> {
            String why = route.trouble;
            if (route.way == null) {
                table.add(new MethodStatus(
                        "wan",
                        address.toString(),
                        why == null ? MethodStatus.State.UNTRIED : MethodStatus.State.FAILED,
                        why == null ? "not tried yet" : why));
            }
        });
    }
}
