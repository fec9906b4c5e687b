package io.madeleine.pmm.spi;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.net.UnknownHostException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/**
 * The published address of an adapter that has a socket: its host, and where to reach it there. As text {@code
 * host-tag@10.0.0.7:4711,[fd00::7]:4711}.
 *
 * <p>Threading: immutable.
 *
 * @param hostTag the same for all processes of one running system
 * @param hosts host names or addresses, in the order to try
 * @param port the port, the same for all
 */
public record InternetAddress(String hostTag, List<String> hosts, int port) {
    private static final int MAX_TEXT = 1024;
    private static final int MAX_HOSTS = 16;
    private static final int MAX_TAG = 64;
    private static final String LOCAL_TAG = findTag();

    /** Creates an address. */
    public InternetAddress {
        hosts = List.copyOf(hosts);
    }

    /** The address to publish for a bound socket. */
    public static InternetAddress of(InetSocketAddress bound, String advertise) {
        return of(bound, advertise, _ -> true);
    }

    /**
     * As {@link #of(InetSocketAddress, String)}, for a socket that does not receive at all addresses of this host.
     *
     * @param receives whether a socket that is bound to the wildcard address receives at an address
     */
    public static InternetAddress of(InetSocketAddress bound, String advertise, Predicate<InetAddress> receives) {
        List<String> hosts;
        if (!advertise.equals(SocketAdapterConfig.AUTO)) {
            hosts = List.of(advertise);
        } else if (bound.getAddress().isAnyLocalAddress()) {
            hosts = interfaceAddresses(bound, receives);
        } else {
            hosts = List.of(bound.getAddress().getHostAddress());
        }
        return new InternetAddress(LOCAL_TAG, hosts, bound.getPort());
    }

    private static List<String> interfaceAddresses(InetSocketAddress bound, Predicate<InetAddress> receives) {
        try {
            List<String> running = addressesOf(InternetAddress::isRunning, receives);
            if (!running.isEmpty()) {
                return running;
            }
            // an interface that has just been set up counts as down for a second
            List<String> configured = addressesOf(_ -> true, receives);
            return configured.isEmpty()
                    ? List.of(InetAddress.getLoopbackAddress().getHostAddress())
                    : configured;
        } catch (SocketException _) {
            return List.of(bound.getAddress().getHostAddress());
        }
    }

    private static List<String> addressesOf(Predicate<NetworkInterface> wanted, Predicate<InetAddress> receives)
            throws SocketException {
        return NetworkInterface.networkInterfaces()
                .filter(wanted)
                .flatMap(NetworkInterface::inetAddresses)
                .filter(address -> !address.isLoopbackAddress() && !address.isLinkLocalAddress())
                .filter(receives)
                .map(InetAddress::getHostAddress)
                .limit(MAX_HOSTS)
                .toList();
    }

    private static boolean isRunning(NetworkInterface candidate) {
        try {
            return candidate.isUp();
        } catch (SocketException _) {
            return false;
        }
    }

    private static String findTag() {
        try {
            return Files.readString(Path.of("/proc/sys/kernel/random/boot_id")).strip();
        } catch (IOException _) {
            try {
                return InetAddress.getLocalHost().getHostName();
            } catch (UnknownHostException _) {
                return "unknown";
            }
        }
    }

    /**
     * Why this host cannot reach an adapter; empty if it seems reachable.
     *
     * @param published the address that the peer has published
     * @param family the name of the network
     * @param bindKey the key that sets where an adapter of the same name listens
     */
    public static Optional<String> unreachable(String published, String family, String bindKey) {
        try {
            InternetAddress peer = parse(published, family);
            if (peer.isLoopbackOnly() && !peer.isOnThisHost()) {
                return Optional.of("the peer is on another host and listens on its loopback address only; set "
                        + bindKey + " there, for instance to \"0.0.0.0\"");
            }
            return Optional.empty();
        } catch (IllegalArgumentException e) {
            return Optional.of(String.valueOf(e.getMessage()));
        }
    }

    /**
     * What an error text adds about a peer that does not answer at its loopback address.
     *
     * @param address the loopback address
     * @param key the key that sets where an adapter of the same name listens
     */
    public static String loopbackHint(String address, String key) {
        return ": its address " + address + " is a loopback address, which reaches no other host or container; if the"
                + " peer runs in another one, set " + key + " there";
    }

    /** {@link #loopbackHint} if only processes of the same host can reach the address; otherwise empty. */
    public String hint(String key) {
        return isLoopbackOnly() ? loopbackHint(hosts.getFirst(), key) : "";
    }

    /**
     * Parses an address that a peer published.
     *
     * @param family the name of the network, for the error text
     * @throws IllegalArgumentException if the text is not such an address
     */
    public static InternetAddress parse(String text, String family) {
        int at = text.indexOf('@');
        if (text.length() > MAX_TEXT || at < 1 || at > MAX_TAG) {
            throw new IllegalArgumentException(
                    "\"" + shorten(text) + "\" is not the address of a " + family + " adapter");
        }
        List<String> hosts = new ArrayList<>();
        int port = 0;
        for (String place : text.substring(at + 1).split(",", -1)) {
            int colon = place.lastIndexOf(':');
            if (colon < 1 || hosts.size() == MAX_HOSTS) {
                throw new IllegalArgumentException(
                        "\"" + shorten(text) + "\" is not the address of a " + family + " adapter");
            }
            String host = place.substring(0, colon);
            boolean bracketed = host.startsWith("[") && host.endsWith("]");
            hosts.add(bracketed ? host.substring(1, host.length() - 1) : host);
            port = port(place.substring(colon + 1), text);
        }
        return new InternetAddress(text.substring(0, at), hosts, port);
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
        throw new IllegalArgumentException("\"" + shorten(text) + "\" has no port between 1 and 65535");
    }

    private static String shorten(String text) {
        return text.length() <= 80 ? text : text.substring(0, 77) + "...";
    }

    /** Whether this address was published on this host. */
    public boolean isOnThisHost() {
        return hostTag.equals(LOCAL_TAG);
    }

    /** Whether only processes of the same host can reach it. */
    public boolean isLoopbackOnly() {
        return hosts.stream().allMatch(host -> {
            try {
                return host.equals("localhost") || InetAddress.ofLiteral(host).isLoopbackAddress();
            } catch (IllegalArgumentException _) {
                return false;
            }
        });
    }

    /**
     * Resolves the host names, which may block. Unknown names stay unresolved. Addresses that this host has, too, such
     * as that of a bridge of containers, do not lead to another host; they are left out if others remain.
     */
    public List<InetSocketAddress> resolve() {
        List<InetSocketAddress> places =
                hosts.stream().map(host -> new InetSocketAddress(host, port)).toList();
        if (isOnThisHost()) {
            return places;
        }
        List<InetSocketAddress> elsewhere =
                places.stream().filter(place -> !leadsHere(place)).toList();
        return elsewhere.isEmpty() ? places : elsewhere;
    }

    private static boolean leadsHere(InetSocketAddress place) {
        try {
            return !place.isUnresolved() && isOfThisHost(place.getAddress());
        } catch (SocketException _) {
            return false;
        }
    }

    /** Whether an interface of this host has the address. */
    static boolean isOfThisHost(InetAddress address) throws SocketException {
        return address.isLoopbackAddress() || NetworkInterface.getByInetAddress(address) != null;
    }

    @Override
    public String toString() {
        return hosts.stream()
                .map(host -> (host.indexOf(':') < 0 ? host : "[" + host + "]") + ":" + port)
                .collect(Collectors.joining(",", hostTag + "@", ""));
    }
}
