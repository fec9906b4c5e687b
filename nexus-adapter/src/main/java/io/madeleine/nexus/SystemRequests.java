package io.madeleine.nexus;

import io.madeleine.api.MadeleineException;
import java.util.Map;

/**
 * What contexts tell each other beside the requests of their users: refusals and goodbyes.
 *
 * <p>Threading: thread-safe.
 */
final class SystemRequests {
    private static final int REFUSED = Wire.id("refused");
    private static final int GOODBYE = Wire.id("goodbye");
    private static final Context.Reason[] REASONS = Context.Reason.values();

    private final Context context;
    private final Refusals[] refusals;

    SystemRequests(Context context, Endpoint system) {
        this.context = context;
        this.refusals = new Refusals[context.size()];
        for (int rank = 0; rank < refusals.length; rank++) {
            refusals[rank] = new Refusals();
        }
        system.nonThreaded("refused", (_, request) -> refused(request));
        system.nonThreaded(
                "goodbye", (_, request) -> context.peerGone(request.remote(), "its context has been closed"));
    }

    private void refused(Request request) {
        int endpoint = request.getInt();
        int handler = request.getInt();
        int reason = request.getByte();
        long count = request.getLong();
        if (reason < 0 || reason >= REASONS.length) {
            throw new NexusException("a refusal for reason " + reason + ": expected 0 to " + (REASONS.length - 1));
        }
        context.failures().refused(new Context.Refusal(request.remote(), endpoint, handler, REASONS[reason], count));
    }

    /** Counts a refusal, and tells the peer of all there have been as soon as nothing else waits to be sent to it. */
    void refuse(int rank, Refusals.Kind kind) {
        refusals[rank].add(kind);
        if (context.peer(rank).isDrained()) {
            tellRefusals(rank);
        }
    }

    /** The way to a peer is free. */
    void tellRefusals(int rank) {
        if (refusals[rank].any()) {
            tell(rank, context.peer(rank));
        }
    }

    @SuppressWarnings("EnumOrdinal") // both ends are the same program
    private void tell(int rank, Peer peer) {
        try {
            for (Map.Entry<Refusals.Kind, Long> entry : refusals[rank].take().entrySet()) {
                Refusals.Kind kind = entry.getKey();
                Arguments arguments = new Arguments()
                        .putInt(kind.endpoint())
                        .putInt(kind.handler())
                        .putByte((byte) kind.reason().ordinal())
                        .putLong(entry.getValue());
                peer.sendNow(arguments, Wire.SYSTEM_ENDPOINT, REFUSED);
            }
        } catch (MadeleineException e) {
            context.failures().sendFailed(rank, e);
        }
    }

    void goodbye() {
        for (int rank = 0; rank < context.size(); rank++) {
            Peer peer = context.peer(rank);
            if (rank != context.rank() && !peer.isGone()) {
                try {
                    peer.sendNow(new Arguments(), Wire.SYSTEM_ENDPOINT, GOODBYE);
                } catch (MadeleineException e) {
                    // it has gone first
                }
            }
        }
    }
}
