package io.madeleine.tm.bip.io;

import java.net.InetSocketAddress;
import java.util.Map;

/**
 * The faults to inject, by direction and peer.
 *
 * <p>Threading: immutable.
 *
 * @param seed decides which datagrams are hit; the same seed and the same traffic give the same faults
 * @param send the faults of datagrams to peers without faults of their own
 * @param receive the same for datagrams from them
 * @param peers the faults of single peers, by {@code host:port}
 */
public record Faults(long seed, Direction send, Direction receive, Map<String, Peer> peers) {
    /** No faults. */
    public static final Faults NONE = new Faults(0, Direction.NONE, Direction.NONE, Map.of());

    /** Copies the map. */
    public Faults {
        peers = Map.copyOf(peers);
    }

    /**
     * The faults of one peer.
     *
     * @param send those of datagrams to it
     * @param receive those of datagrams from it
     */
    public record Peer(Direction send, Direction receive) {}

    /**
     * The faults of one direction; shares from 0 to 1.
     *
     * @param loss the share of datagrams that are lost
     * @param duplication the share that comes twice
     * @param corruption the share of which bits are changed
     * @param reordering the share that others overtake, up to {@code reorderBy} of them
     * @param reorderBy how many datagrams may overtake one
     * @param delayNs by how much all are delayed
     * @param jitterNs by how much more each is delayed, at random
     * @param cutAfterNs when, after the opening of the adapter, all are lost
     * @param cutForNs for how long
     */
    public record Direction(
            double loss,
            double duplication,
            double corruption,
            double reordering,
            int reorderBy,
            long delayNs,
            long jitterNs,
            long cutAfterNs,
            long cutForNs) {
        /** No faults. */
        public static final Direction NONE = new Direction(0, 0, 0, 0, 1, 0, 0, 0, 0);

        boolean any() {
            return loss > 0
                    || duplication > 0
                    || corruption > 0
                    || reordering > 0
                    || delayNs > 0
                    || jitterNs > 0
                    || cutForNs > 0;
        }

        boolean isCut(long ageNs) {
            return cutForNs > 0 && ageNs >= cutAfterNs && ageNs - cutAfterNs < cutForNs;
        }
    }

    /** Whether any fault is configured. */
    public boolean any() {
        return send.any() || receive.any() || !peers.isEmpty();
    }

    Direction sendTo(InetSocketAddress peer) {
        Peer own = own(peer);
        return own == null ? send : own.send;
    }

    Direction receiveFrom(InetSocketAddress peer) {
        Peer own = own(peer);
        return own == null ? receive : own.receive;
    }

    private @org.jspecify.annotations.Nullable Peer own(InetSocketAddress peer) {
        return peers.isEmpty() ? null : peers.get(peer.getAddress().getHostAddress() + ":" + peer.getPort());
    }
}
