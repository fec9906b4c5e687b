package io.madeleine.mpi.device;

import io.madeleine.api.Channel;
import io.madeleine.mpi.MpiFault;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntPredicate;
import org.jspecify.annotations.Nullable;

/**
 * All processes of the session, this one included, and which of them are lost.
 *
 * <p>Threading: thread-safe.
 */
final class Peers {
    private final int own;
    private final Peer[] peers;

    /** The number of peers that are lost. */
    private final AtomicInteger losses = new AtomicInteger();

    Peers(Channel channel, int own, int count, int creditBytes) {
        this.own = own;
        this.peers = new Peer[count];
        for (int rank = 0; rank < count; rank++) {
            peers[rank] = new Peer(channel, rank, creditBytes, rank == own);
        }
    }

    /** The rank of this process. */
    int own() {
        return own;
    }

    int count() {
        return peers.length;
    }

    Peer get(int rank) {
        return peers[rank];
    }

    /** A process is lost: the messages that wait until they can leave fail. */
    void fail(int rank, MpiFault why) {
        losses.incrementAndGet();
        peers[rank].fail(why);
    }

    boolean hasLosses() {
        return losses.get() != 0;
    }

    /** Why one of these processes is lost; null if none of them is. */
    @Nullable
    MpiFault lossAmong(IntPredicate concerned) {
        if (!hasLosses()) {
            return null;
        }
        for (Peer peer : peers) {
            if (peer.failure() != null && concerned.test(peer.rank)) {
                return peer.failure();
            }
        }
        return null;
    }

    /**
     * Why no message can be expected; null if one can.
     *
     * @param members the processes that may send if {@code source} is any
     */
    @Nullable
    MpiFault lossAmong(int source, IntPredicate members) {
        if (!hasLosses()) {
            return null;
        }
        return source == Wildcards.ANY_SOURCE ? lossAmong(members) : peers[source].failure();
    }

    /** Sends a control message to each other process that is not lost. Never waits. */
    void postToAll(Controls controls, byte kind, long bytes) {
        for (Peer peer : peers) {
            if (peer.rank != own && peer.failure() == null) {
                peer.post(controls.take(kind, 0, 0, 0, bytes));
            }
        }
    }

    /** Whether messages to others have not left yet. */
    boolean hasQueues() {
        for (Peer peer : peers) {
            if (peer.hasQueue()) {
                return true;
            }
        }
        return false;
    }
}
