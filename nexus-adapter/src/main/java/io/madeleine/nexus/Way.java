package io.madeleine.nexus;

import io.madeleine.api.Signal;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * A communication method at work: a way to one node.
 *
 * <p>Threading: thread-safe.
 */
abstract class Way {
    private static final long PAUSE_NS = 10_000_000;

    final Node node;
    final Peer peer;

    /** Why nothing can be sent any more, if that is so. */
    private volatile @Nullable String lost;

    /** Whether it has still to be done what follows from a loss. */
    private final AtomicBoolean unsettled = new AtomicBoolean(true);

    Way(Node node, Peer peer) {
        this.node = node;
        this.peer = peer;
    }

    /** The method's name, as in {@link MethodStatus}. */
    abstract String name();

    abstract String address();

    /** Whether the user's word for a method means this one. */
    boolean isMeantBy(String word) {
        return word.equals(name());
    }

    /** What a thread waits on for an answer that comes by this way. */
    Signal newSignal() {
        return node.session().newSignal();
    }

    /** The rank of the process to which it leads, if that is of this session and answers by a channel; else -1. */
    int rank() {
        return -1;
    }

    /**
     * Sends and waits until the arguments may be changed; false if the way is lost and nothing has been sent.
     *
     * @throws io.madeleine.api.PeerFailedException if it was lost meanwhile: the request may or may not have arrived
     */
    abstract boolean send(Arguments arguments, Link link, int handler);

    /**
     * Sends without waiting; false if the way is lost and nothing has been sent.
     *
     * @param methods which ways it may go if this one is lost while it is queued
     * @throws OverloadedException if that cannot be done at once and too much is queued
     */
    abstract boolean sendNow(Arguments arguments, Link link, int handler, String[] methods);

    /** Whether nothing is queued. */
    abstract boolean isDrained();

    /** Waits until nothing is queued, no longer than that. */
    abstract boolean awaitDrained(long timeoutNs);

    /** Why the node cannot be reached, which the network may know before this way does; null while it is not known to be. */
    abstract @Nullable String whyDisconnected();

    /** Why the way is lost; null while it is not. */
    final @Nullable String lost() {
        return lost;
    }

    /**
     * The way is lost; what cannot be answered any more fails. What memory is too short for is done by who comes here next: of a
     * way with calls on it, whoever watches their deadlines.
     */
    final void lose(String why) {
        String first;
        synchronized (this) {
            first = lost == null ? why : lost;
            lost = first;
        }
        if (unsettled.compareAndSet(true, false)) {
            try {
                peer.wayLost(this, first);
                afterLoss(first);
            } catch (Throwable e) {
                unsettled.set(true);
                throw e;
            }
        }
    }

    /** As {@link #lose}, by a thread of the way's own, which ends with it: again and again until there is memory for that. */
    final void loseAtLast(Throwable why) {
        while (true) {
            try {
                lose(reason(why));
                return;
            } catch (Throwable _) { // not even for an error message
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

    /** What is said of a loss. */
    String reason(Throwable why) {
        return String.valueOf(why);
    }

    /** Gives up what it has; no longer among the peer's ways. Once more if it has thrown something. */
    abstract void afterLoss(String why);
}
