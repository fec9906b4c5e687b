package io.madeleine.nexus;

import io.madeleine.api.MadeleineException;
import io.madeleine.nexus.wire.RequestLayout;
import java.util.List;
import java.util.Map;

/**
 * The adapter's own notices between contexts: refusals and goodbyes.
 *
 * <p>Threading: thread-safe.
 */
final class SystemRequests {
    private static final int REFUSED = RequestLayout.id("refused");
    private static final int REFUSED_CALLS = RequestLayout.id("refused calls");
    static final int GOODBYE = RequestLayout.id("goodbye");
    private static final Refusal.Reason[] REASONS = Refusal.Reason.values();

    private final Node node;

    SystemRequests(Node node, Endpoint system) {
        this.node = node;
        system.nonThreaded("refused", (_, request) -> refused(request));
        system.nonThreaded("goodbye", (_, request) -> goodbye(request));
    }

    private void goodbye(Request request) {
        Peer peer = node.nodes().get(request.remote());
        if (!node.nodes().isMember(peer.number()) || request.getInt() >= node.generation()) {
            peer.goodbye();
        } // else it is of an earlier context, which used the channels before this one
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

    /** Counts a refusal; the peer gets one notice of all refusals as soon as nothing else is queued for it. */
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

    /** Refuses a call; its caller gets a notice as soon as nothing else is queued for it. */
    void refuseCall(int caller, long id, String why) {
        if (caller == node.rank()) {
            node.send(caller, REFUSED_CALLS, refusedCalls(why, List.of(id)));
            return;
        }
        Peer peer = node.nodes().get(caller);
        if (!peer.refusedCalls().add(id, why)) {
            throw new OverloadedException(
                    peer + " receives too slowly: too many notices of refused calls wait for it already");
        }
        if (peer.isDrained()) {
            tellRefusals(peer);
        }
    }

    private static Arguments refusedCalls(String why, List<Long> ids) {
        Arguments arguments = new Arguments().putText(why).putInt(ids.size());
        ids.forEach(arguments::putLong);
        return arguments;
    }

    /** Sends the pending notices of refusals to a peer for which nothing is queued. */
    @SuppressWarnings("EnumOrdinal") // both ends have the same version of this enum
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

    /**
     * Sends a notice without waiting, if there is a route to the peer; reports a send failure if it cannot be sent.
     *
     * @param what the number of the handler of the system endpoint
     */
    void tell(Peer peer, int what, Arguments arguments) {
        try {
            peer.tell(arguments, what);
        } catch (MadeleineException e) {
            node.failures().sendFailed(peer.number(), e);
        }
    }

    /**
     * Tells all that this context is closed and sends nothing more. A peer that has said so itself needs it, too: what
     * follows is for its next context. Waits until the deadline at most.
     */
    void goodbye(long deadlineNs) {
        node.nodes().forEachOther(peer -> {
            try {
                peer.tell(new Arguments().putInt(node.generation()), GOODBYE);
                if (peer.isClosed()) {
                    Arguments answer = new Arguments().putInt(node.generation());
                    answer.sendBy(deadlineNs);
                    peer.answerGoodbye(answer);
                }
            } catch (MadeleineException e) {
                // the peer takes no messages; it will see the connection end
            }
        });
    }
}
