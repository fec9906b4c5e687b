package io.madeleine.switching;

import io.madeleine.pmm.spi.ProtocolConnection;

/**
 * What the receiving half of a connection and its parts know of the connection and of those who wait for its messages.
 *
 * <p>Threading: thread-safe.
 */
interface ReceiveContext extends ConnectionContext {
    /** The connection of the network. */
    ProtocolConnection protocol();

    /**
     * Whether no message of the peer may be begun any more, even if it has arrived. Set before anyone is told of the
     * loss.
     */
    boolean isGivenUp();

    /** Whether the connection is lost and no further message can be begun, even if one is still open. */
    boolean hasNothingMoreToBegin();

    /** Puts the connection into the channel's queue, once, since a message has arrived. */
    void messageArrived();

    /** Whether a thread sleeps until a message arrives from any peer. */
    boolean isAnyMessageAwaited();

    /** Wakes the threads that wait for a message of any peer: there may be nothing left to wait for. */
    void signalLoss();
}
