package io.madeleine.nexus.wan;

import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;

/**
 * What network addresses stand for, and their texts.
 *
 * <p>Threading: stateless.
 */
final class Addresses {
    private Addresses() {}

    /** {@code host:port}, an IPv6 address in brackets. */
    static String text(String host, int port) {
        int scope = host.indexOf('%');
        String bare = scope < 0 ? host : host.substring(0, scope);
        return (bare.indexOf(':') >= 0 ? "[" + bare + "]" : bare) + ":" + port;
    }

    /** Whether an address is one of this host; false if that cannot be found out. */
    static boolean isOfThisHost(InetAddress address) {
        try {
            return address.isLoopbackAddress() || NetworkInterface.getByInetAddress(address) != null;
        } catch (SocketException _) {
            return false;
        }
    }
}
