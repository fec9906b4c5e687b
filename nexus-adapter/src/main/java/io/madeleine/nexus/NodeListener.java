package io.madeleine.nexus;

/**
 * A part of a context that is built upon its {@link Node}: typed calls, and the wide area. The node does not know it;
 * it tells it what has happened.
 *
 * <p>Threading: any thread calls it. Implementations do not wait, except in {@link #closing}.
 */
interface NodeListener {
    /**
     * A route is lost: requests that took it and have no answer will not get one. Called again for the same route if an
     * earlier call has thrown.
     */
    default void routeLost(Peer peer, Route route, String why) {}

    /** A message of the peer was dropped before its request could be read. */
    default void messageDropped(Peer peer) {}

    /** The peer has closed its context in order, and everything that it had sent has arrived. */
    default void peerClosed(Peer peer) {}

    /** The context of this process is being closed: ends the work under way, whose answers can still be sent. */
    default void closing() {}

    /** Nothing is sent any more: the context of this process is closed. */
    default void closed() {}
}
