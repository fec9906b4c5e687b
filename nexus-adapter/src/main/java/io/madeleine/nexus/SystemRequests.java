package io.madeleine.nexus;

import io.madeleine.api.MadeleineException;
import java.util.List;
import java.util.Map;

/**
 * What contexts tell each other beside the requests of their users: refusals and goodbyes.
 *
 * <p>Threading: thread-safe.
 */
final class SystemRequests {
    private static final int REFUSED = Wire.id("refused");
    private static final int REFUSED_CALLS = Wire.id("refused calls");
    private static final int GOODBYE = Wire.id("goodbye");
    private static final int ADDRESSES = Wire.id("addresses");
    private static final Refusal.Reason[] REASONS = Refusal.Reason.values();

    private final Node node;

    SystemRequests(Node node, Endpoint system) {
        this.node = node;
        system.nonThreaded("refused", (_, request) -> refused(request));
        system.nonThreaded(
                "goodbye", (_, request) -> node.nodes().get(request.remote()).goodbye());
        system.nonThreaded(
                "addresses",
                (_, request) -> node.nodes().get(request.remote()).routes().add(WanAddress.readAll(request)));
    }

    private void refused(Request request) {
        int endpoint = request.getInt();
        int handler = request.getInt();
        int reason = request.getByte();
        long count = request.getLong();
        if (reason < 0 || reason >= REASONS.length) {
            throw new NexusException("a refusal for reason " + reason + ": expected 0 to " + (REASONS.length - 1));
        }
        node.failures().refused(new Refusal(request.remote(), endpoint, handler, REASONS[reason], count));
    }

    /** Counts a refusal, and tells the peer of all there have been as soon as nothing else waits to be sent to it. */
    void refuse(int sender, Refusals.Kind kind) {
        if (sender == node.rank()) {
            node.failures().refused(new Refusal(sender, kind.endpoint(), kind.handler(), kind.reason(), 1));
            return;
        }
        Peer peer = node.nodes().get(sender);
        peer.refusals().add(kind);
        if (peer.isDrained()) {
            tellRefusals(peer);
        }
    }

    /** Refuses a call; its caller is told as soon as nothing else waits to be sent there. */
    void refuseCall(int caller, long id, String why) {
        if (caller == node.rank()) {
            node.send(caller, REFUSED_CALLS, refusedCalls(why, List.of(id)));
            return;
        }
        Peer peer = node.nodes().get(caller);
        if (!peer.refusedCalls().add(id, why)) {
            throw new OverloadedException(
                    peer + " does not take what is sent to it, not even that its calls are refused");
        }
        if (peer.isDrained()) {
            tellRefusals(peer);
        }
    }

    private static Arguments refusedCalls(String why, List<Long> ids) {
        Arguments arguments = new Arguments().putString(why).putInt(ids.size());
        ids.forEach(arguments::putLong);
        return arguments;
    }

    /** The way to a peer is free. */
    @SuppressWarnings("EnumOrdinal") // both ends are the same program
    void tellRefusals(Peer peer) {
        while (peer.refusedCalls().any() && peer.isDrained()) {
            RefusedCalls.Some some = peer.refusedCalls().take();
            if (!some.ids().isEmpty()) {
                tell(peer, REFUSED_CALLS, refusedCalls(some.why(), some.ids()));
            }
        }
        if (!peer.refusals().any()) {
            return;
        }
        for (Map.Entry<Refusals.Kind, Long> entry : peer.refusals().take().entrySet()) {
            Refusals.Kind kind = entry.getKey();
            tell(
                    peer,
                    REFUSED,
                    new Arguments()
                            .putInt(kind.endpoint())
                            .putInt(kind.handler())
                            .putByte((byte) kind.reason().ordinal())
                            .putLong(entry.getValue()));
        }
    }

    /** Tells all nodes where this context listens. */
    void tellAddresses() {
        Arguments arguments = new Arguments();
        WanAddress.writeAll(arguments, node.nodes().get(node.rank()).routes().addresses());
        node.nodes().forEachOther(peer -> tell(peer, ADDRESSES, arguments));
    }

    private void tell(Peer peer, int what, Arguments arguments) {
        try {
            peer.tell(arguments, what);
        } catch (MadeleineException e) {
            node.failures().sendFailed(peer.number(), e);
        }
    }

    void goodbye() {
        node.nodes().forEachOther(peer -> {
            try {
                peer.tell(new Arguments(), GOODBYE);
            } catch (MadeleineException e) {
                // it takes nothing, and will see the end of the connection
            }
        });
    }
}
