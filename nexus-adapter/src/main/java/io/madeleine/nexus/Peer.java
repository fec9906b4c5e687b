package io.madeleine.nexus;

import io.madeleine.api.MadeleineException;
import io.madeleine.api.PeerFailedException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;

/**
 * Another node, and all ways to it: over the channels of the session, over connections that are there, and to addresses where
 * it listens. Requests go the first way that works; when that fails, the next one is taken.
 *
 * <p>Threading: thread-safe.
 */
final class Peer {
    private static final String[] ANY = {};

    private final Node node;
    private final int number;
    private final NodeId id;

    /** At work, best first; those to which this process has connected are in {@link #routes}, too. */
    private final List<Way> ways = new CopyOnWriteArrayList<>();

    private final Routes routes;
    private final Refusals refusals = new Refusals();
    private final RefusedCalls refusedCalls = new RefusedCalls();

    /** Ways of the session that are lost. */
    private final CopyOnWriteArrayList<MethodStatus> lostWays = new CopyOnWriteArrayList<>();

    private final Deferred deferred;

    private volatile @Nullable Way current;

    /** Why nothing can be sent any more, whatever the way. */
    private volatile @Nullable String left;

    /** Whether it has said so itself, by a way behind everything it had sent. */
    private volatile boolean saidGoodbye;

    /** Whether a way has been lost, with what was on it. */
    private volatile boolean hasLost;

    /** The number of the last call that had begun when a message was dropped. */
    private volatile long droppedAfter;

    Peer(Node node, int number, NodeId id) {
        this.node = node;
        this.number = number;
        this.id = id;
        this.routes = new Routes(node, this);
        this.deferred = new Deferred(node, this);
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

    /** By which way requests go, and answers are expected, as far as is known; null if by none. */
    @Nullable
    Way current() {
        return current;
    }

    /** One more way, at work. */
    void add(Way way) {
        ways.add(way);
        if (current == null) {
            current = way;
        }
    }

    // ---- requests

    /** Sends, waits until the arguments may be changed, and answers which way they went. */
    Way send(Arguments arguments, Link link, int handler) {
        Way way = current;
        return way != null && way.send(arguments, link, handler) ? way : send(arguments, link, handler, ANY);
    }

    /**
     * As {@link #send(Arguments, Link, int)}, by the first method that works of those named; of all, if none is named.
     *
     * @throws PeerFailedException if none works; says which there are
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

    /** Sends without waiting; null if that is left to a thread that may wait for a connection. */
    @Nullable
    Way sendNow(Arguments arguments, Link link, int handler, String[] methods) {
        while (deferred.isEmpty()) {
            Way used = current;
            Way way = methods.length == 0 && used != null && used.lost() == null ? used : atWork(methods);
            if (way == null) {
                break;
            }
            if (way.sendNow(arguments, link, handler, methods)) {
                return way;
            }
        }
        if (left != null || (deferred.isEmpty() && !routes.mayConnect(methods))) {
            throw unreachable(methods);
        }
        deferred.add(arguments, link, handler, methods);
        return null;
    }

    /**
     * Sends a notice without waiting, by the ways at work: it is for who is connected, and means nothing to others.
     *
     * @param what the system endpoint's handler
     */
    void tell(Arguments notice, int what) {
        Way used = current; // as answers: what it tells comes behind them
        Way way = used != null && used.lost() == null ? used : first();
        while (way != null && !way.sendNow(notice, Link.SYSTEM, what, ANY)) {
            way = first();
        }
    }

    /** As {@link #sendNow}, for what was queued for a way that is lost; who has sent it is told if there is no other. */
    void sendAnotherWay(Arguments arguments, Link link, int handler, String[] methods) {
        try {
            if (left != null) {
                throw unreachable(methods);
            }
            sendNow(ArgumentCopies.ofAll(arguments), link, handler, methods); // the owner gets its memory back now
        } catch (MadeleineException e) {
            if (!link.isSystem()) { // calls fail by themselves, and nobody waits for an answer any more
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

    // ---- what is known

    /** The table of methods, best first. */
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
                continue; // it is being taken out just now
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

    /** The ways at work, best first. */
    List<Way> ways() {
        return List.copyOf(ways);
    }

    /** Whether there is a way at work. */
    boolean isAtWork() {
        return !ways.isEmpty();
    }

    /** Whether it is known to be gone: dead in its session, or its context has been closed. */
    boolean isGone() {
        return ways.isEmpty() && (left != null || !routes.mayConnect(ANY)); // not before its ways are out of use
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

    // ---- messages that are dropped

    /** A message from there has been dropped, whatever it was: who waits for it does so in vain. */
    void dropped() {
        droppedAfter = node.calls().lastId();
    }

    /** Whether a message has been dropped since the call of that number began, which may have been for it. */
    boolean hasDroppedSince(long call) {
        return call <= droppedAfter;
    }

    // ---- the end

    /** A way is lost; from itself, and again if this has not come to its end. */
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

    /** Its process is dead, as the session says, or cannot be reached over the session's networks any more. */
    void lostBySession(String why) {
        for (Way way : ways) {
            if (way instanceof MadWay) {
                way.lose(why);
            }
        }
    }

    /** Its context has been closed. */
    void goodbye() {
        if (!hasLost) { // else answers may be lost
            saidGoodbye = true;
            node.calls().peerClosed(this);
        }
        leave("its context has been closed");
    }

    /** Whether its context has been closed in order: what it has not answered it has not begun. */
    boolean hasSaidGoodbye() {
        return saidGoodbye;
    }

    /** It has gone for good, or this context has. */
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
