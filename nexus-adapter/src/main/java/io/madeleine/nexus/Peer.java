package io.madeleine.nexus;

import io.madeleine.api.MadeleineException;
import io.madeleine.api.PeerFailedException;
import io.madeleine.nexus.wire.Link;
import io.madeleine.nexus.wire.NodeId;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Another node, with all routes to it: over channels of the session, over existing wide-area connections, and to
 * addresses where it listens. Requests take the first route that works; when that fails, the next one.
 *
 * <p>Threading: thread-safe.
 */
final class Peer {
    private static final String[] ANY = {};

    private final Node node;
    private final int number;
    private final NodeId id;

    /** The usable routes, best first; {@link #routeSource} knows those that it has made, too. */
    private final List<Route> routes = new CopyOnWriteArrayList<>();

    private final RouteSource routeSource;
    private final Refusals refusals = new Refusals();
    private final RefusedCalls refusedCalls = new RefusedCalls();

    /** The status of channels of the session that are lost. */
    private final CopyOnWriteArrayList<MethodStatus> lostRoutes = new CopyOnWriteArrayList<>();

    private final PendingConnects pendingConnects;

    private volatile @Nullable Route current;

    /** Why nothing can be sent any more by any route; null while the peer is reachable. */
    private volatile @Nullable String left;

    /** Whether the peer has closed its context in order, and its goodbye came behind everything it had sent. */
    private volatile boolean saidGoodbye;

    /** Whether the peer has closed its context. */
    private volatile boolean closed;

    /** The channel that had worked until the peer closed its context; null without one. */
    private volatile @Nullable ChannelRoute lastChannel;

    /** Whether a route has been lost, possibly with messages on it. */
    private volatile boolean hasLost;

    /** The id of the last call that had begun when a message was dropped; 0 if none was. */
    private volatile long droppedAfter;

    Peer(Node node, int number, NodeId id, Function<Peer, RouteSource> routeSources) {
        this.node = node;
        this.number = number;
        this.id = id;
        this.routeSource = routeSources.apply(this);
        this.pendingConnects = new PendingConnects(node, this);
    }

    int number() {
        return number;
    }

    NodeId id() {
        return id;
    }

    /** What makes further routes to the peer. */
    RouteSource routeSource() {
        return routeSource;
    }

    Refusals refusals() {
        return refusals;
    }

    RefusedCalls refusedCalls() {
        return refusedCalls;
    }

    /** The route that requests take and by which answers are expected; null if there is none yet. */
    @Nullable
    Route current() {
        return current;
    }

    /** Adds a usable route. */
    void add(Route route) {
        routes.add(route);
        if (current == null) {
            current = route;
        }
    }

    // ---- requests

    /** Sends a request, waits until the arguments may be changed, and returns the route it took. */
    Route send(Arguments arguments, Link link, int handler) {
        Route route = current;
        return route != null && route.send(arguments, link, handler) ? route : send(arguments, link, handler, ANY);
    }

    /**
     * As {@link #send(Arguments, Link, int)}, by the first usable one of the named methods; of all methods, if none is
     * named.
     *
     * @throws PeerFailedException if none works; the message lists all methods
     */
    Route send(Arguments arguments, Link link, int handler, String[] methods) {
        while (true) {
            Route route = atWork(methods);
            if (route == null) {
                route = left == null ? routeSource.connectAny(methods, arguments.sendByNs()) : null;
            }
            if (route == null) {
                throw unreachable(methods);
            }
            if (methods.length == 0) {
                current = route;
            }
            if (route.send(arguments, link, handler)) {
                return route;
            }
        }
    }

    /** Sends without waiting; null if the request is left to {@link PendingConnects}, which connects first. */
    @Nullable
    Route sendNow(Arguments arguments, Link link, int handler, String[] methods) {
        while (pendingConnects.isEmpty()) {
            Route used = current;
            Route route = methods.length == 0 && used != null && used.lost() == null ? used : atWork(methods);
            if (route == null) {
                break;
            }
            if (route.sendNow(arguments, link, handler, methods)) {
                return route;
            }
        }
        if (left != null || (pendingConnects.isEmpty() && !routeSource.mayConnect(methods))) {
            throw unreachable(methods);
        }
        pendingConnects.add(arguments, link, handler, methods);
        return null;
    }

    /**
     * Sends a notice without waiting, by an existing route only: nodes without a connection do not need it.
     *
     * @param what the number of the handler of the system endpoint
     */
    void tell(Arguments notice, int what) {
        Route used = current; // the route that answers take, so that the notice arrives behind them
        Route route = used != null && used.lost() == null ? used : first();
        while (route != null && !route.sendNow(notice, Link.SYSTEM, what, ANY)) {
            route = first();
        }
    }

    /**
     * As {@link #sendNow}, for a request that was queued for a route that is lost; reports a send failure if no other
     * route works.
     */
    void sendAnotherWay(Arguments arguments, Link link, int handler, String[] methods) {
        try {
            if (left != null) {
                throw unreachable(methods);
            }
            // a copy: the owner of the arguments gets its memory back now
            sendNow(ArgumentCopies.ofAll(arguments), link, handler, methods);
        } catch (MadeleineException e) {
            if (!link.isSystem()) { // calls fail by other means, and no caller waits for the adapter's other requests
                node.failures().sendFailed(number, e);
            }
        }
    }

    private @Nullable Route atWork(String[] methods) {
        for (String word : methods) {
            for (Route route : routes) {
                if (route.lost() == null && route.isMeantBy(word)) {
                    return route;
                }
            }
        }
        return methods.length > 0 ? null : first();
    }

    private @Nullable Route first() {
        for (Route route : routes) {
            if (route.lost() == null) {
                return route;
            }
        }
        return null;
    }

    private PeerFailedException unreachable(String[] methods) {
        String why = left;
        StringBuilder text = new StringBuilder(toString()).append(" cannot be reached");
        if (methods.length > 0) {
            text.append(" by ").append(String.join(", ", methods));
        }
        if (why != null) {
            return new PeerFailedException(number, text.append(": ").append(why).toString());
        }
        List<MethodStatus> all = methods();
        for (int i = 0; i < all.size(); i++) {
            MethodStatus method = all.get(i);
            text.append(i == 0 ? ": " : "; ")
                    .append(method.name())
                    .append(" (")
                    .append(method.address())
                    .append("): ")
                    .append(method.reason());
        }
        return new PeerFailedException(
                number, text.append(all.isEmpty() ? ": no method is known" : "").toString());
    }

    // ---- state

    /** The communication methods with their states, best first. */
    List<MethodStatus> methods() {
        List<MethodStatus> all = new ArrayList<>(lostRoutes);
        if (number >= node.size()) {
            all.add(new MethodStatus(
                    "mad",
                    "channel " + id.channel(),
                    MethodStatus.State.NOT_APPLICABLE,
                    "it is of session " + id.session() + ", this process of "
                            + node.nodes().self().session()));
        }
        Route used = left == null ? current : null;
        for (Route route : routes) {
            if (route.lost() != null) {
                continue; // it is being removed
            }
            boolean inUse = route == used || (used == null && route == first());
            all.add(new MethodStatus(
                    route.name(),
                    route.address(),
                    inUse ? MethodStatus.State.IN_USE : MethodStatus.State.WORKS,
                    inUse ? "the first that works" : "another one is in use"));
        }
        routeSource.addStatus(all);
        return all;
    }

    /** The usable routes, best first. */
    List<Route> routes() {
        return List.copyOf(routes);
    }

    /** Whether there is a usable route. */
    boolean isAtWork() {
        return !routes.isEmpty();
    }

    /** Whether the peer is known to be gone: dead in its session, or with a closed context. */
    boolean isGone() {
        return routes.isEmpty()
                && (left != null || !routeSource.mayConnect(ANY)); // not before all its routes have been removed
    }

    boolean isDrained() {
        return routes.stream().allMatch(Route::isDrained);
    }

    boolean awaitDrained(long timeoutNs) {
        long deadlineNs = System.nanoTime() + timeoutNs;
        boolean drained = true;
        for (Route route : routes) {
            drained &= route.awaitDrained(Math.max(0, deadlineNs - System.nanoTime()));
        }
        return drained;
    }

    // ---- dropped messages

    /** Called when a message of the peer was dropped before its request could be read. */
    void dropped() {
        node.messageDropped(this);
    }

    /** Notes that a message was dropped: it may have been the answer of a call up to this id, begun by then. */
    void droppedAfter(long call) {
        droppedAfter = call;
    }

    /** Whether a message was dropped since a call began; it may have been the call's answer. */
    boolean hasDroppedSince(long call) {
        return call <= droppedAfter;
    }

    // ---- the end

    /** Called by a route that is lost; called again if an earlier attempt has thrown. */
    void routeLost(Route route, String why) {
        hasLost = true;
        routes.remove(route);
        if (current == route) {
            current = first();
        }
        if (!routeSource.noteLost(route, why)) {
            boolean _ = lostRoutes.addIfAbsent(
                    new MethodStatus(route.name(), route.address(), MethodStatus.State.FAILED, why));
        }
        node.routeLost(this, route, why);
    }

    /**
     * Loses the routes over channels: the session says that the process is dead, or not reachable over its networks any
     * more.
     */
    void lostBySession(String why) {
        for (Route route : routes) {
            if (route instanceof ChannelRoute) {
                route.lose(why);
            }
        }
    }

    /** Called when the peer has said that its context is closed. */
    void goodbye() {
        for (Route route : routes) {
            if (lastChannel == null && route instanceof ChannelRoute channel) {
                lastChannel = channel;
            }
        }
        closed = true;
        if (!hasLost) { // else a lost route may have taken answers with it
            saidGoodbye = true;
            node.peerClosed(this);
        }
        leave("its context has been closed");
    }

    /** Answers the goodbye of this peer, which takes nothing else any more. */
    void answerGoodbye(Arguments goodbye) {
        ChannelRoute channel = lastChannel;
        if (channel != null) {
            channel.answerGoodbye(goodbye);
        }
    }

    /** Whether the peer has closed its context. */
    boolean isClosed() {
        return closed;
    }

    /** Whether the peer has closed its context in order: it has not begun the calls that it has not answered. */
    boolean hasSaidGoodbye() {
        return saidGoodbye;
    }

    /** Ends all sending to the peer: it is gone for good, or this context is closed. */
    void leave(String why) {
        left = why;
        routes.forEach(route -> route.lose(why));
    }

    @Override
    public String toString() {
        return number < node.size()
                ? "rank " + number
                : "node " + number + " (rank " + id.rank() + " of session " + id.session() + ")";
    }
}
