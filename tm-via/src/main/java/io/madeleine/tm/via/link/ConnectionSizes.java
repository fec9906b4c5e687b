package io.madeleine.tm.via.link;

import io.madeleine.tm.via.port.MessageFlyweight;

/**
 * The sizes of a connection.
 *
 * <p>Threading: immutable.
 *
 * @param messageBytes the size of a message, head included
 * @param packetCount how many packets of via/pool may be under way in each direction
 * @param rdma the sizes of via/rdma
 */
public record ConnectionSizes(int messageBytes, int packetCount, RdmaSizes rdma) {
    /**
     * Receives for messages of control. Credits: two messages, since each reports half a window. One each for a
     * revocation, its answer, the finish and the end. Grants have receives of their own.
     */
    private static final int CONTROL_RECEIVES = 6;

    /** The longest payload of a packet. */
    public int payloadBytes() {
        return messageBytes - MessageFlyweight.BYTES;
    }

    /** How many receives a connection needs. */
    public int receiveCount() {
        return packetCount + CONTROL_RECEIVES + (rdma.isOn() ? rdma.headers() + rdma.grants() : 0);
    }
}
