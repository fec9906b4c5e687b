package io.madeleine.tm.via.link;

import io.madeleine.tm.via.port.MessageFlyweight;
import io.madeleine.tm.via.port.ViaPort;

/**
 * The sizes of a connection.
 *
 * <p>Threading: immutable.
 *
 * @param messageBytes the size of a message, head included
 * @param packetCount how many packets of via/pool may be under way in each direction
 * @param rdma the sizes of via/rdma
 * @param registered the sizes of via/registered
 */
public record ConnectionSizes(int messageBytes, int packetCount, RdmaSizes rdma, RegisteredSizes registered) {
    /**
     * Receives for messages of control. Credits: two messages, since each reports half a window. One each for a
     * revocation, its answer, the finish and the end. Grants have receives of their own.
     */
    private static final int CONTROL_RECEIVES = 6;

    /** Receives for messages that return credits of via/registered alone. */
    private static final int REGISTERED_CREDITS = 2;

    /** The longest payload of a packet. */
    public int payloadBytes() {
        return messageBytes - MessageFlyweight.BYTES;
    }

    /** How many receives a connection needs at an endpoint. */
    public int receiveCount(ViaPort port) {
        return packetCount
                + CONTROL_RECEIVES
                + (rdma.isOn() ? (rdma.headers() + rdma.grants()) * (port.hasImmediateData() ? 1 : 2) : 0)
                + (registered.isOn() ? registered.window() + REGISTERED_CREDITS : 0);
    }
}
