package io.madeleine.nexus;

import java.io.IOException;
import java.io.InterruptedIOException;
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
final class WanRoutes implements RouteSource {
    private static final long FIRST_PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(250);
    private static final long LONGEST_PAUSE_NS = TimeUnit.SECONDS.toNanos(30);

    private final Peer peer;
    private final Connecting how;
    private final Map<WanAddress, Candidate> candidates = new LinkedHashMap<>();
    private final ReentrantLock connecting = new ReentrantLock();

    /** The state of an address. */
    private static final class Candidate {
        private @Nullable WanRoute route;
        private @Nullable String trouble;
        private long pauseNs = FIRST_PAUSE_NS;
        private long restsUntilNs;

        boolean mayBeTried() {
            return route == null && (trouble == null || System.nanoTime() - restsUntilNs >= 0);
        }
    }

    /** Connects to an address of a node. */
    @FunctionalInterface
    interface Connecting {
        WanRoute connect(Peer peer, WanAddress address) throws IOException;
    }

    WanRoutes(Peer peer, Connecting how) {
        this.peer = peer;
        this.how = how;
    }

    /** The addresses of a peer; contexts give all peers a source of this kind. */
    static WanRoutes of(Peer peer) {
        return (WanRoutes) peer.routeSource();
    }

    /** Adds addresses where the node listens. */
    synchronized void add(List<WanAddress> addresses) {
        for (WanAddress address : addresses) {
            if (candidates.size() < WanAddress.MAX_COUNT) {
                candidates.putIfAbsent(address, new Candidate());
            }
        }
    }

    synchronized List<WanAddress> addresses() {
        return List.copyOf(candidates.keySet());
    }

    private static boolean isMeant(WanAddress address, String[] methods) {
        for (String word : methods) {
            if (word.equals("wan") || word.equals(address.toString())) {
                return true;
            }
        }
        return methods.length == 0;
    }

    @Override
    public synchronized boolean mayConnect(String[] methods) {
        return !tries(methods).isEmpty();
    }

    private synchronized List<WanAddress> tries(String[] methods) {
        List<WanAddress> tries = new ArrayList<>();
        candidates.forEach((address, candidate) -> {
            if (isMeant(address, methods) && candidate.mayBeTried()) {
                tries.add(address);
            }
        });
        return tries;
    }

    private synchronized @Nullable WanRoute connected(String[] methods) {
        for (Map.Entry<WanAddress, Candidate> entry : candidates.entrySet()) {
            WanRoute route = entry.getValue().route;
            if (route != null && isMeant(entry.getKey(), methods)) {
                return route;
            }
        }
        return null;
    }

    /** As the interface says, with the connect timeout for each address. */
    @Override
    @SuppressWarnings("NullAway") // it does not see that a Task may return null
    public @Nullable Route connectAny(String[] methods, long untilNs) {
        if (!mayConnect(methods)) {
            return connected(methods);
        }
        try {
            return Connector.run(() -> connectInTurn(methods), untilNs);
        } catch (IOException e) {
            throw new NexusException("no connection to " + peer + " was made: " + e.getMessage(), e);
        }
    }

    private @Nullable Route connectInTurn(String[] methods) throws IOException {
        try {
            connecting.lockInterruptibly();
        } catch (InterruptedException e) {
            throw (IOException) new InterruptedIOException("interrupted while another thread connected").initCause(e);
        }
        try {
            WanRoute made = connected(methods); // connected by another thread meanwhile
            if (made != null) {
                return made;
            }
            for (WanAddress address : tries(methods)) {
                WanRoute route = connect(address);
                if (route != null) {
                    return route;
                }
            }
            return null;
        } finally {
            connecting.unlock();
        }
    }

    private @Nullable WanRoute connect(WanAddress address) throws IOException {
        WanRoute route;
        try {
            route = how.connect(peer, address);
        } catch (IOException e) {
            if (Thread.currentThread().isInterrupted()) {
                throw e; // given up by the caller; the address has not failed
            }
            failed(address, WanReader.text(e));
            return null;
        }
        connected(route);
        try {
            route.start();
            return route;
        } catch (IOException _) {
            return null; // the route is lost, and its address has failed with it
        }
    }

    private synchronized void failed(WanAddress address, String why) {
        Candidate candidate = candidates.get(address);
        if (candidate != null) {
            candidate.route = null;
            candidate.trouble = why;
            candidate.restsUntilNs = System.nanoTime() + candidate.pauseNs;
            candidate.pauseNs = Math.min(2 * candidate.pauseNs, LONGEST_PAUSE_NS);
        }
    }

    /** Notes that a connection has been made. */
    synchronized void connected(WanRoute route) {
        Candidate candidate = route.target() == null ? null : candidates.get(route.target());
        if (candidate != null) {
            candidate.route = route;
            candidate.trouble = null;
            candidate.pauseNs = FIRST_PAUSE_NS;
        }
    }

    @Override
    public boolean noteLost(Route route, String why) {
        if (!(route instanceof WanRoute wan)) {
            return false;
        }
        WanAddress target = wan.target();
        if (target != null) {
            failed(target, why);
        }
        return true;
    }

    @Override
    public synchronized void addStatus(List<MethodStatus> table) {
        candidates.forEach((address, candidate) -> {
            String why = candidate.trouble;
            if (candidate.route == null) {
                table.add(new MethodStatus(
                        "wan",
                        address.toString(),
                        why == null ? MethodStatus.State.UNTRIED : MethodStatus.State.FAILED,
                        why == null ? "not tried yet" : why));
            }
        });
    }
}
