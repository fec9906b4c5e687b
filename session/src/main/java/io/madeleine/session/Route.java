package io.madeleine.session;

/**
 * How one channel reaches one peer.
 *
 * <p>Threading: immutable.
 *
 * @param rank the peer's rank
 * @param channel the channel's name
 * @param network the network that both ends chose
 * @param adapter the adapter of this process
 * @param peerAddress the address of the peer's adapter
 */
record Route(int rank, String channel, String network, String adapter, String peerAddress) {}
