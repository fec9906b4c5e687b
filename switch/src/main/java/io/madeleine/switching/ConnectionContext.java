package io.madeleine.switching;

import io.madeleine.api.Channel;
import io.madeleine.api.MadeleineException;
import io.madeleine.pmm.ProgressEngine;
import io.madeleine.pmm.Waitable;

/**
 * What the halves of a connection and their parts know of the connection: whom it joins, what drives it, and how it is
 * given up. There is one implementation, so that calls cost nothing.
 *
 * <p>Threading: thread-safe, except {@link #takeMemoryBack}.
 */
interface ConnectionContext {
    /** The peer. */
    int rank();

    /** The name of the network. */
    String network();

    /** The channel to which the connection belongs. */
    Channel channel();

    /** Whether the session of the channel is being closed, which is then the reason of failures. */
    boolean isClosing();

    /** Whether a descriptor precedes each block. */
    boolean isSelfDescribed();

    /** How long a network may take to release memory. */
    long peerTimeoutNs();

    /** For error messages: the ranks of an outgoing message and the channel. */
    String fromHere();

    /** For error messages: the ranks of an incoming message and the channel. */
    String toHere();

    /** The engine that drives the connection. */
    ProgressEngine engine();

    /**
     * Makes a waitable with the channel's hint.
     *
     * @param inHandlers the advice for handlers, which must not wait on it
     */
    Waitable newWaitable(String inHandlers);

    /** Whether the peer is gone, or the connection was given up. */
    boolean isLost();

    /** The failure for calls on a connection that is lost or whose link is closed. */
    MadeleineException failure();

    /**
     * Whether the throwable, from a link in the middle of a packet, leaves the state of the packet unknown. If shared
     * memory was truncated ({@link InternalError}), the network knows the state. If memory ran out, the link knows it,
     * unless that happened in a call that cannot be repeated ({@code stateUnknown}).
     */
    boolean isBrokenBy(Throwable seen, boolean stateUnknown);

    /** Gives the connection up, since it cannot continue; {@code reason} is a clause for error messages. */
    void breakUp(String reason);

    /** Gives the connection up, since the state of a packet is unknown. */
    void breakUpAfter(Throwable seen);

    /**
     * Takes back posted memory that the network has not released in time: gives the connection up and closes it. After
     * that no network accesses memory of its messages. The leader calls this until it returns true.
     *
     * @param reason a clause for error messages, if the connection is not lost yet
     * @return whether the connection is closed; it is not before the network has been told of the loss
     */
    boolean takeMemoryBack(String reason);
}
