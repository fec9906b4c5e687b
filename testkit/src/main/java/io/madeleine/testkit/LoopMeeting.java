package io.madeleine.testkit;

import io.madeleine.pmm.spi.ConnectionRequest;
import org.jspecify.annotations.Nullable;

/**
 * The two ends of a connection on their way to each other.
 *
 * <p>Threading: completed once by the second visitor, under the fabric's monitor; read by both.
 */
final class LoopMeeting {
    /** One end: who wants to connect, and how. */
    record Visitor(LoopAdapter adapter, ConnectionRequest request) {}

    private final Visitor first;
    private volatile @Nullable Visitor second;
    private volatile @Nullable LoopWire wire;

    LoopMeeting(Visitor first) {
        this.first = first;
    }

    void complete(Visitor visitor) {
        wire = new LoopWire(first, visitor);
        second = visitor;
        first.adapter().ring();
    }

    /** The wire between the two, or null while there is but one. */
    @Nullable
    LoopWire wire() {
        return wire;
    }

    /** What the two do not agree on, or null. */
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
            return "exactly one of them has to be the initiator, found both "
                    + (first.request().initiator() ? "" : "not ") + "to be it";
        }
        return null;
    }
}
