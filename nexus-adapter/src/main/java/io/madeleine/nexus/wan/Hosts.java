package io.madeleine.nexus.wan;

import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * The addresses by which other machines reach this one.
 *
 * <p>Threading: stateless.
 */
public final class Hosts {
    private static final int MAX_COUNT = 8;

    private Hosts() {}

    /**
     * The addresses of this machine, IPv4 first. The loopback address is last: from another machine it leads nowhere or
     * to the wrong host.
     */
    public static List<String> ofThisMachine() {
        List<InetAddress> found = new ArrayList<>();
        try {
            NetworkInterface.networkInterfaces()
                    .flatMap(NetworkInterface::inetAddresses)
                    .filter(address -> !address.isLoopbackAddress()
                            && !address.isLinkLocalAddress()
                            && !address.isMulticastAddress())
                    .forEach(found::add);
        } catch (SocketException _) {
            // the loopback address remains
        }
        List<String> hosts = new ArrayList<>(found.stream()
                .sorted(Comparator.comparingInt(address -> address.getAddress().length))
                .map(Hosts::text)
                .limit(MAX_COUNT)
                .toList());
        hosts.add(text(InetAddress.getLoopbackAddress()));
        return hosts;
    }

    private static String text(InetAddress address) {
        String host = address.getHostAddress();
        int scope = host.indexOf('%');
        return scope < 0 ? host : host.substring(0, scope);
    }
}
