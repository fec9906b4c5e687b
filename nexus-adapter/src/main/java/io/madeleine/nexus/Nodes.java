package io.madeleine.nexus;

import io.madeleine.api.Channel;
import io.madeleine.nexus.wire.KeyTree;
import io.madeleine.nexus.wire.NodeId;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.IntStream;

/**
 * All nodes that this context knows: the processes of its session, whose numbers are their ranks, and contexts of other
 * sessions, which get the numbers that follow. A number is never reused.
 *
 * <p>Threading: thread-safe.
 */
final class Nodes {
    /** How many contexts of other sessions are remembered. */
    private static final int MAX_FOREIGN = 1 << 16;

    private final Node node;
    private final Function<Peer, RouteSource> routeSources;
    private final Peer[] members;
    private final NodeId self;
    private final KeyTree keyTree;
    private final Map<NodeId, Peer> foreignById = new ConcurrentHashMap<>();
    private final Map<Integer, Peer> foreignByNumber = new ConcurrentHashMap<>();
    private int last;

    Nodes(Node node, List<Channel> channels, Function<Peer, RouteSource> routeSources) {
        this.node = node;
        this.routeSources = routeSources;
        this.members = new Peer[node.size()];
        this.last = members.length - 1;
        String name = channels.getFirst().name();
        this.keyTree = new KeyTree(IntStream.range(0, node.size())
                .mapToObj(node.session()::publicKey)
                .toList());
        String session = keyTree.nameOf(node.session().id());
        for (int rank = 0; rank < members.length; rank++) {
            members[rank] = new Peer(node, rank, new NodeId(session, name, rank), routeSources);
            if (rank != node.rank()) {
                for (Channel channel : channels) {
                    members[rank].add(new ChannelRoute(node, members[rank], channel, rank, node.signal()));
                }
            }
        }
        this.self = members[node.rank()].id();
    }

    /** The identity of this process's context. */
    NodeId self() {
        return self;
    }

    /** The keys that prove the identity of this process. */
    KeyTree keyTree() {
        return keyTree;
    }

    boolean isMember(int number) {
        return number < members.length;
    }

    /** The node with a number. */
    Peer get(int number) {
        if (number >= 0 && number < members.length) {
            return members[number];
        }
        Peer found = foreignByNumber.get(number);
        if (found == null) {
            throw new IllegalArgumentException("node " + number + ": expected a rank, 0 to " + (members.length - 1)
                    + ", or the number of a context of another session that is still known");
        }
        return found;
    }

    /** The node with an identity; adds it if it is unknown. */
    Peer of(NodeId id) {
        if (id.isOfSameSessionAs(self)) {
            if (id.rank() >= members.length) {
                throw new NexusException(
                        "a startpoint to rank " + id.rank() + ": expected 0 to " + (members.length - 1));
            }
            return members[id.rank()];
        }
        Peer known = foreignById.get(id);
        return known == null ? add(id) : known;
    }

    private synchronized Peer add(NodeId id) {
        Peer known = foreignById.get(id);
        if (known != null) {
            return known;
        }
        if (foreignById.size() >= MAX_FOREIGN && !forgetOne()) {
            throw new OverloadedException("this context knows " + MAX_FOREIGN + " contexts of other sessions already");
        }
        Peer added = new Peer(node, ++last, id, routeSources);
        foreignByNumber.put(added.number(), added);
        foreignById.put(id, added);
        return added;
    }

    private boolean forgetOne() {
        for (Peer peer : foreignById.values()) {
            if (!peer.isAtWork()) {
                foreignById.remove(peer.id());
                foreignByNumber.remove(peer.number());
                return true;
            }
        }
        return false;
    }

    /** Runs an action for every node but this process. */
    void forEachOther(Consumer<Peer> action) {
        for (Peer member : members) {
            if (member.number() != node.rank()) {
                action.accept(member);
            }
        }
        foreign().forEach(action);
    }

    /** Waits until nothing is queued for any node; false if the deadline passes first. */
    boolean awaitDrained(long deadlineNs) {
        boolean[] drained = {true};
        forEachOther(peer -> drained[0] &= peer.awaitDrained(Math.max(0, deadlineNs - System.nanoTime())));
        return drained[0];
    }

    Collection<Peer> foreign() {
        return foreignByNumber.values();
    }
}
