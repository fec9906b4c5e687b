package io.madeleine.tm.bip;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/**
 * Where an adapter receives datagrams: {@code bip:TAG@HOST:PORT,HOST:PORT}. The tag is the same for all processes of one
 * running system.
 *
 * <p>Threading: immutable.
 *
 * @param hostTag the tag
 * @param hosts host names or addresses, in the order to try
 * @param port the port, the same for all
 */
record BipAddress(String hostTag, List<String> hosts, int port) {
    private static final String SCHEME = "bip:";
    private static final int MAX_TEXT = 1024;
    private static final int MAX_HOSTS = 16;
    private static final String LOCAL_TAG = findTag();

    BipAddress {
        hosts = List.copyOf(hosts);
    }

    /** The address to publish for a bound socket. */
    static BipAddress of(InetSocketAddress bound, String advertise) {
        List<String> hosts;
        if (!advertise.equals(BipConfig.AUTO)) {
            hosts = List.of(advertise);
        } else if (bound.getAddress().isAnyLocalAddress()) {
            hosts = interfaceAddresses();
        } else {
            hosts = List.of(bound.getAddress().getHostAddress());
        }
        return new BipAddress(LOCAL_TAG, hosts, bound.getPort());
    }

    private static List<String> interfaceAddresses() {
        try {
            List<String> found = NetworkInterface.networkInterfaces()
                    .flatMap(NetworkInterface::inetAddresses)
                    .filter(address -> !address.isLoopbackAddress() && !address.isLinkLocalAddress())
                    .map(InetAddress::getHostAddress)
                    .limit(MAX_HOSTS)
                    .toList();
            return found.isEmpty() ? List.of(InetAddress.getLoopbackAddress().getHostAddress()) : found;
        } catch (SocketException _) {
            return List.of(InetAddress.getLoopbackAddress().getHostAddress());
        }
    }

    private static String findTag() {
        try {
            return Files.readString(Path.of("/proc/sys/kernel/random/boot_id")).strip();
        } catch (IOException _) {
            return "unknown";
        }
    }

    /**
     * Parses an address that a peer published.
     *
     * @throws IllegalArgumentException if the text is not such an address
     */
    static BipAddress parse(String text) {
        int at = text.indexOf('@');
        if (text.length() > MAX_TEXT || !text.startsWith(SCHEME) || at < 0) {
            throw notAnAddress(text);
        }
        List<String> hosts = new ArrayList<>();
        int port = 0;
        for (String place : text.substring(at + 1).split(",", -1)) {
            int colon = place.lastIndexOf(':');
            if (colon < 1 || hosts.size() == MAX_HOSTS) {
                throw notAnAddress(text);
            }
            String host = place.substring(0, colon);
            hosts.add(host.startsWith("[") && host.endsWith("]") ? host.substring(1, host.length() - 1) : host);
            port = port(place.substring(colon + 1), text);
        }
        return new BipAddress(text.substring(SCHEME.length(), at), hosts, port);
    }

    private static int port(String digits, String text) {
        try {
            int port = Integer.parseInt(digits);
            if (port > 0 && port <= 65_535) {
                return port;
            }
        } catch (NumberFormatException _) {
            // reported below
        }
        throw notAnAddress(text);
    }

    private static IllegalArgumentException notAnAddress(String text) {
        String shown = text.length() <= 80 ? text : text.substring(0, 77) + "...";
        return new IllegalArgumentException("\"" + shown + "\" is not the address of a bip adapter");
    }

    /** Whether this address was published on this host. */
    boolean isOnThisHost() {
        return hostTag.equals(LOCAL_TAG);
    }

    /** Whether only processes of the same host can send to it. */
    boolean isLoopbackOnly() {
        return hosts.stream().allMatch(BipAddress::isLoopback);
    }

    private static boolean isLoopback(String host) {
        try {
            return host.equals("localhost") || InetAddress.ofLiteral(host).isLoopbackAddress();
        } catch (IllegalArgumentException _) {
            return false;
        }
    }

    /** The places to send to, resolved; those with unknown names are left out. Resolving may block. */
    List<InetSocketAddress> resolve() {
        return hosts.stream()
                .map(host -> new InetSocketAddress(host, port))
                .filter(place -> !place.isUnresolved())
                .toList();
    }

    @Override
    public String toString() {
        return hosts.stream()
                .map(host -> (host.indexOf(':') < 0 ? host : "[" + host + "]") + ":" + port)
                .collect(Collectors.joining(",", SCHEME + hostTag + "@", ""));
    }
}
