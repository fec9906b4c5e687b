package io.madeleine.tm.via.link;

import io.madeleine.pmm.handshake.HandshakeFrames;
import io.madeleine.tm.via.port.MessageFlyweight;

/**
 * The slots of a connection's lane: those of the line, then those of its links.
 *
 * <p>Threading: stateless.
 */
final class LaneSlots {
    /** Slots for the messages of the handshake: each side sends at most one opening and two frames. */
    static final int FRAMES = 4;

    static final int CREDIT = 4;
    static final int FINISH = 5;
    static final int END = 6;
    static final int GRANT = 7;
    static final int REVOKE = 8;
    static final int REVOKED = 9;

    static final int LANDED = 10;

    /** The number of slots of a line. */
    static final int LINE = 11;

    /** The size of a slot of a line. */
    static final int LINE_BYTES = 2112;

    /** The size of a slot for a header of via/rdma. */
    static final int HEADER_BYTES = 64;

    static {
        assert LINE_BYTES >= MessageFlyweight.BYTES + HandshakeFrames.MAX_FRAME_BYTES;
    }

    private LaneSlots() {}
}
