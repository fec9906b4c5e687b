package io.madeleine.session.config;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.net.UnknownHostException;
import java.util.Optional;

/**
 * A host with an optional port, as written in a list of hosts: {@code name}, {@code name:port}, {@code [v6]:port}.
 *
 * <p>Threading: immutable.
 *
 * @param host the name or address
 * @param port the port, or 0 if none is given
 */
public record HostAddress(String host, int port) {
    /** Parses an entry; empty if it is malformed. */
    public static Optional<HostAddress> parse(String written) {
        int bracket = written.lastIndexOf(']');
        int colon = written.lastIndexOf(':');
        boolean bareV6 = bracket < 0 && colon != written.indexOf(':');
        boolean hasPort = colon > bracket && !bareV6;
        String host = hasPort ? written.substring(0, colon) : written;
        if (host.startsWith("[") && host.endsWith("]")) {
            host = host.substring(1, host.length() - 1);
        }
        if (!host.matches("[A-Za-z0-9.:%_-]{1,255}")) {
            return Optional.empty();
        }
        if (!hasPort) {
            return Optional.of(new HostAddress(host, 0));
        }
        try {
            int port = Integer.parseInt(written.substring(colon + 1));
            return port > 0 && port <= 65535 ? Optional.of(new HostAddress(host, port)) : Optional.empty();
        } catch (NumberFormatException _) {
            return Optional.empty();
        }
    }

    /** Looks up the socket address. */
    public InetSocketAddress resolve() {
        return new InetSocketAddress(host, port);
    }

    /** Whether it resolves to a loopback address; false if it does not resolve. */
    public boolean isLoopback() {
        try {
            return InetAddress.getByName(host).isLoopbackAddress();
        } catch (UnknownHostException _) {
            return false;
        }
    }

    /** Whether it names this machine; false if it does not resolve. */
    boolean isLocal() {
        try {
            InetAddress address = InetAddress.getByName(host);
            return address.isLoopbackAddress() || NetworkInterface.getByInetAddress(address) != null;
        } catch (UnknownHostException | SocketException _) {
            return false;
        }
    }

    @Override
    public String toString() {
        return (host.contains(":") ? "[" + host + "]" : host) + (port == 0 ? "" : ":" + port);
    }
}
