package io.madeleine.nexus;

import io.madeleine.api.MadeleineException;
import io.madeleine.api.PeerFailedException;
import io.madeleine.nexus.wire.Link;
import io.madeleine.nexus.wire.NodeId;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;

/**
 * Another node, with all ways to it: over channels of the session, over existing wide-area connections, and to
 * addresses where it listens. Requests take the first way that works; when that fails, the next one.
 *
 * <p>Threading: thread-safe.
 */
final class Peer {
    private static final String[] ANY = {};

    private final Node node;
    private final int number;
    private final NodeId id;

    /** The usable ways, best first; connections that this process has made are in {@link #routes}, too. */
    private final List<Way> ways = new CopyOnWriteArrayList<>();

    private final Routes routes;
    private final Refusals refusals = new Refusals();
    private final RefusedCalls refusedCalls = new RefusedCalls();

    /** The status of channels of the session that are lost. */
    private final CopyOnWriteArrayList<MethodStatus> lostWays = new CopyOnWriteArrayList<>();

    private final PendingConnects pendingConnects;

    private volatile @Nullable Way current;

    /** Why nothing can be sent any more by any way; null while the peer is reachable. */
    private volatile @Nullable String left;

    /** Whether the peer has closed its context in order, and its goodbye came behind everything it had sent. */
    private volatile boolean saidGoodbye;

    /** Whether a way has been lost, possibly with messages on it. */
    private volatile boolean hasLost;

    /** The id of the last call that had begun when a message was dropped. */
    private volatile long droppedAfter;

    Peer(Node node, int number, NodeId id) {
        this.node = node;
        this.number = number;
        this.id = id;
        this.routes = new Routes(node, this);
        this.pendingConnects = new PendingConnects(node, this);
    }

    int number() {
        return number;
    }

    NodeId id() {
        return id;
    }

    Routes routes() {
        return routes;
    }

    Refusals refusals() {
        return refusals;
    }

    RefusedCalls refusedCalls() {
        return refusedCalls;
    }

    /** The way that requests take and by which answers are expected; null if there is none yet. */
    @Nullable
    Way current() {
        return current;
    }

    /** Adds a usable way. */
    void add(Way way) {
        ways.add(way);
        if (current == null) {
            current = way;
        }
    }

    // ---- requests

    /** Sends a request, waits until the arguments may be changed, and returns the way it took. */
    Way send(Arguments arguments, Link link, int handler) {
        Way way = current;
        return way != null && way.send(arguments, link, handler) ? way : send(arguments, link, handler, ANY);
    }

    /**
     * As {@link #send(Arguments, Link, int)}, by the first usable one of the named methods; of all methods, if none is
     * named.
     *
     * @throws PeerFailedException if none works; the message lists all methods
     */
    Way send(Arguments arguments, Link link, int handler, String[] methods) {
        while (true) {
            Way way = atWork(methods);
            if (way == null) {
                way = left == null ? routes.connectAny(methods) : null;
            }
            if (way == null) {
                throw unreachable(methods);
            }
            if (methods.length == 0) {
                current = way;
            }
            if (way.send(arguments, link, handler)) {
                return way;
            }
        }
    }

    /** Sends without waiting; null if the request is left to {@link PendingConnects}, which connects first. */
    @Nullable
    Way sendNow(Arguments arguments, Link link, int handler, String[] methods) {
        while (pendingConnects.isEmpty()) {
            Way used = current;
            Way way = methods.length == 0 && used != null && used.lost() == null ? used : atWork(methods);
            if (way == null) {
                break;
            }
            if (way.sendNow(arguments, link, handler, methods)) {
                return way;
            }
        }
        if (left != null || (pendingConnects.isEmpty() && !routes.mayConnect(methods))) {
            throw unreachable(methods);
        }
        pendingConnects.add(arguments, link, handler, methods);
        return null;
    }

    /**
     * Sends a notice without waiting, by an existing way only: nodes without a connection do not need it.
     *
     * @param what the number of the handler of the system endpoint
     */
    void tell(Arguments notice, int what) {
        Way used = current; // the way that answers take, so that the notice arrives behind them
        Way way = used != null && used.lost() == null ? used : first();
        while (way != null && !way.sendNow(notice, Link.SYSTEM, what, ANY)) {
            way = first();
        }
    }

    /**
     * As {@link #sendNow}, for a request that was queued for a way that is lost; reports a send failure if no other way
     * works.
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

    private @Nullable Way atWork(String[] methods) {
        for (String word : methods) {
            for (Way way : ways) {
                if (way.lost() == null && way.isMeantBy(word)) {
                    return way;
                }
            }
        }
        return methods.length > 0 ? null : first();
    }

    private @Nullable Way first() {
        for (Way way : ways) {
            if (way.lost() == null) {
                return way;
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
        List<MethodStatus> all = new ArrayList<>(lostWays);
        if (number >= node.size()) {
            all.add(new MethodStatus(
                    "mad",
                    "channel " + id.channel(),
                    MethodStatus.State.NOT_APPLICABLE,
                    "it is of session " + id.session() + ", this process of "
                            + node.nodes().self().session()));
        }
        Way used = left == null ? current : null;
        for (Way way : ways) {
            if (way.lost() != null) {
                continue; // it is being removed
            }
            boolean inUse = way == used || (used == null && way == first());
            all.add(new MethodStatus(
                    way.name(),
                    way.address(),
                    inUse ? MethodStatus.State.IN_USE : MethodStatus.State.WORKS,
                    inUse ? "the first that works" : "another one is in use"));
        }
        routes.addStatus(all);
        return all;
    }

    /** The usable ways, best first. */
    List<Way> ways() {
        return List.copyOf(ways);
    }

    /** Whether there is a usable way. */
    boolean isAtWork() {
        return !ways.isEmpty();
    }

    /** Whether the peer is known to be gone: dead in its session, or with a closed context. */
    boolean isGone() {
        return ways.isEmpty() && (left != null || !routes.mayConnect(ANY)); // not before all its ways have been removed
    }

    boolean isDrained() {
        return ways.stream().allMatch(Way::isDrained);
    }

    boolean awaitDrained(long timeoutNs) {
        long deadlineNs = System.nanoTime() + timeoutNs;
        boolean drained = true;
        for (Way way : ways) {
            drained &= way.awaitDrained(Math.max(0, deadlineNs - System.nanoTime()));
        }
        return drained;
    }

    // ---- dropped messages

    /** Notes that a message of the peer was dropped: calls that have begun until now may wait for it in vain. */
    void dropped() {
        droppedAfter = node.calls().lastId();
    }

    /** Whether a message was dropped since a call began, which it may have been meant for. */
    boolean hasDroppedSince(long call) {
        return call <= droppedAfter;
    }

    // ---- the end

    /** Called by a way that is lost; called again if an earlier attempt has thrown. */
    void wayLost(Way way, String why) {
        hasLost = true;
        ways.remove(way);
        if (current == way) {
            current = first();
        }
        if (way instanceof WanWay wan) {
            routes.lost(wan, why);
        } else {
            boolean _ =
                    lostWays.addIfAbsent(new MethodStatus(way.name(), way.address(), MethodStatus.State.FAILED, why));
        }
        node.wayLost(this, way, why);
    }

    /**
     * Loses the ways over channels: the session says that the process is dead, or not reachable over its networks any
     * more.
     */
    void lostBySession(String why) {
        for (Way way : ways) {
            if (way instanceof MadWay) {
                way.lose(why);
            }
        }
    }

    /** Called when the peer has said that its context is closed. */
    void goodbye() {
        if (!hasLost) { // else a lost way may have taken answers with it
            saidGoodbye = true;
            node.calls().peerClosed(this);
        }
        leave("its context has been closed");
    }

    /** Whether the peer has closed its context in order: it has not begun the calls that it has not answered. */
    boolean hasSaidGoodbye() {
        return saidGoodbye;
    }

    /** Ends all sending to the peer: it is gone for good, or this context is closed. */
    void leave(String why) {
        left = why;
        ways.forEach(way -> way.lose(why));
    }

    @Override
    public String toString() {
        return number < node.size()
                ? "rank " + number
                : "node " + number + " (rank " + id.rank() + " of session " + id.session() + ")";
    }
}
