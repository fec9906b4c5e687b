package io.madeleine.session.network;

/**
 * The network and the two adapters over which one channel reaches one peer.
 *
 * <p>Threading: immutable.
 *
 * @param rank the peer's rank
 * @param channel the channel's name
 * @param network the network that both ends chose
 * @param adapter the name of this process's adapter
 * @param peerAddress the address of the peer's adapter
 */
public record Route(int rank, String channel, String network, String adapter, String peerAddress) {}
