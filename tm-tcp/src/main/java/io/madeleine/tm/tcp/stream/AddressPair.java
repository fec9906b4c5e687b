package io.madeleine.tm.tcp.stream;

import io.netty.channel.Channel;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.util.Optional;

/**
 * The addresses of both ends of a connection.
 *
 * <p>Threading: immutable.
 *
 * @param local this process's address
 * @param remote the peer's address
 */
public record AddressPair(InetSocketAddress local, InetSocketAddress remote) {
    /** The ends of a connected channel; empty if it is closed. */
    public static Optional<AddressPair> of(Channel channel) {
        return channel.localAddress() instanceof InetSocketAddress local
                        && channel.remoteAddress() instanceof InetSocketAddress remote
                ? Optional.of(new AddressPair(local, remote))
                : Optional.empty();
    }

    /** Whether both ends are on the same host. */
    public boolean areOnOneHost() {
        InetAddress peer = remote.getAddress();
        try {
            return peer.isLoopbackAddress()
                    || peer.equals(local.getAddress())
                    || NetworkInterface.getByInetAddress(peer) != null;
        } catch (SocketException _) {
            return false;
        }
    }
}
