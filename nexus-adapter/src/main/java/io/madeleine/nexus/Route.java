package io.madeleine.nexus;

import io.madeleine.api.Signal;
import io.madeleine.nexus.wire.Link;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * A communication method in use: a connection or channel to one node.
 *
 * <p>Threading: thread-safe.
 */
abstract class Route {
    private static final long PAUSE_NS = 10_000_000;

    final Node node;
    final Peer peer;

    /** Why the route is lost; null while it works. */
    private volatile @Nullable String lost;

    /** Whether the consequences of a loss have still to be handled. */
    private final AtomicBoolean unsettled = new AtomicBoolean(true);

    Route(Node node, Peer peer) {
        this.node = node;
        this.peer = peer;
    }

    /** The name of the method, as in {@link MethodStatus}. */
    abstract String name();

    abstract String address();

    /** Whether a name that the user gave to {@link Startpoint#via} means this route. */
    boolean isMeantBy(String word) {
        return word.equals(name());
    }

    /** A signal for a thread that waits for an answer by this route. */
    Signal newSignal() {
        return node.session().newSignal();
    }

    /** The rank of the process that it leads to, if its answers come over a channel of this session; else -1. */
    int rank() {
        return -1;
    }

    /**
     * Sends a request and waits until the arguments may be changed; false if the route is lost and nothing has been
     * sent.
     *
     * @throws io.madeleine.api.PeerFailedException if the route was lost meanwhile: the request may or may not have
     *     arrived
     */
    abstract boolean send(Arguments arguments, Link link, int handler);

    /**
     * Sends or queues a request without waiting; false if the route is lost and nothing has been sent.
     *
     * @param methods the methods that the request may take instead if this route is lost while it is queued
     * @throws OverloadedException if the request cannot be sent at once and too many bytes are queued
     */
    abstract boolean sendNow(Arguments arguments, Link link, int handler, String[] methods);

    /** Whether the queue is empty. */
    abstract boolean isDrained();

    /** Waits until the queue is empty, for at most that time; returns whether it is. */
    abstract boolean awaitDrained(long timeoutNs);

    /**
     * Why the node cannot be reached, which the network may know before this route does; null if it seems reachable.
     */
    abstract @Nullable String whyDisconnected();

    /** Why the route is lost; null while it works. */
    final @Nullable String lost() {
        return lost;
    }

    /**
     * Marks the route as lost and fails the calls that took it. If that runs out of memory, the next caller repeats it;
     * for a route with calls on it, this is the thread that watches their deadlines.
     */
    final void lose(String why) {
        String first;
        synchronized (this) {
            first = lost == null ? why : lost;
            lost = first;
        }
        if (unsettled.compareAndSet(true, false)) {
            try {
                peer.routeLost(this, first);
                afterLoss(first);
            } catch (Throwable e) {
                unsettled.set(true);
                throw e;
            }
        }
    }

    /** As {@link #lose}, for a thread of the route's own, which ends with it: retries until there is enough memory. */
    final void loseAtLast(Throwable why) {
        while (true) {
            try {
                lose(reason(why));
                return;
            } catch (Throwable _) { // out of memory, perhaps even for the error message
                boolean _ = Thread.interrupted();
                pause();
            }
        }
    }

    private void pause() {
        try {
            LockSupport.parkNanos(this, PAUSE_NS);
        } catch (Throwable _) {
            Thread.yield();
        }
    }

    /** The text for the cause of a loss. */
    String reason(Throwable why) {
        return String.valueOf(why);
    }

    /** Releases the resources of the route, which has been removed from its peer. Called again if it has thrown. */
    abstract void afterLoss(String why);
}
