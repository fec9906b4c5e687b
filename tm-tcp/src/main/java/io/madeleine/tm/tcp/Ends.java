package io.madeleine.tm.tcp;

import io.netty.channel.Channel;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.util.Optional;

/**
 * Where the two ends of a connection are.
 *
 * @param local this process's address
 * @param remote the peer's
 */
record Ends(InetSocketAddress local, InetSocketAddress remote) {
    /** Those of a connected channel; empty once it is closed. */
    static Optional<Ends> of(Channel channel) {
        return channel.localAddress() instanceof InetSocketAddress local
                        && channel.remoteAddress() instanceof InetSocketAddress remote
                ? Optional.of(new Ends(local, remote))
                : Optional.empty();
    }

    /** Whether the bytes stay on this host. */
    boolean areOnOneHost() {
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
