package io.madeleine.testkit;

import io.madeleine.pmm.spi.ConnectionRequest;
import org.jspecify.annotations.Nullable;

/**
 * The rendezvous of the two ends of a connection.
 *
 * <p>Threading: the second visitor completes it, under the fabric's monitor; both read it.
 */
final class LoopRendezvous {
    /** One end: its adapter and its request. */
    record Visitor(LoopAdapter adapter, ConnectionRequest request) {}

    private final Visitor first;
    private volatile @Nullable Visitor second;
    private volatile @Nullable LoopWire wire;

    LoopRendezvous(Visitor first) {
        this.first = first;
    }

    void complete(Visitor visitor) {
        wire = new LoopWire(first, visitor);
        second = visitor;
        first.adapter().ring();
    }

    /** The wire between the ends; null until the second one has come. */
    @Nullable
    LoopWire wire() {
        return wire;
    }

    /** What the two ends disagree on; null if they agree or the second one has not come. */
    @Nullable
    String disagreement() {
        Visitor other = second;
        if (other == null) {
            return null;
        }
        if (first.request().tableDigest() != other.request().tableDigest()) {
            return "the digests of their selection tables differ: "
                    + Long.toHexString(first.request().tableDigest()) + " at " + first.adapter() + " and "
                    + Long.toHexString(other.request().tableDigest()) + " at " + other.adapter();
        }
        if (first.request().initiator() == other.request().initiator()) {
            return "exactly one of the two ends has to be the initiator, but "
                    + (first.request().initiator() ? "both are" : "neither is");
        }
        return null;
    }
}
