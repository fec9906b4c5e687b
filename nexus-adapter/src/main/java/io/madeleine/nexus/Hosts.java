package io.madeleine.nexus;

import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * By which addresses others reach this machine.
 *
 * <p>Threading: stateless.
 */
final class Hosts {
    private static final int MAX_COUNT = 8;

    private Hosts() {}

    /** Its addresses, IPv4 first, the loopback address last: who is on another machine finds nobody there, or a stranger. */
    static List<String> ofThisMachine() {
        List<InetAddress> found = new ArrayList<>();
        try {
            NetworkInterface.networkInterfaces()
                    .flatMap(NetworkInterface::inetAddresses)
                    .filter(address -> !address.isLoopbackAddress()
                            && !address.isLinkLocalAddress()
                            && !address.isMulticastAddress())
                    .forEach(found::add);
        } catch (SocketException _) {
            // the loopback address is left
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
