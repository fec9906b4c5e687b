package io.madeleine.session.bootstrap;

import io.madeleine.api.SessionException;
import io.madeleine.session.config.HostAddress;
import io.madeleine.session.config.Membership;
import io.madeleine.session.config.SessionConfig;
import io.madeleine.session.config.Timeouts;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.List;

/**
 * Joins a session in the way that its configuration selects.
 *
 * <p>Threading: stateless.
 */
public final class Joining {
    private Joining() {}

    /** Joins. Without launcher, rank 0 also runs the server at which the others join. */
    public static Bootstrap join(SessionConfig config, long deadlineNs) {
        Membership membership = config.membership();
        Timeouts timeouts = config.timeouts();
        return switch (membership.contact()) {
            case Membership.Contact.Alone() -> new SoloBootstrap();
            case Membership.Contact.Launcher(HostAddress address) ->
                BootstrapClient.join(membership, address, timeouts, deadlineNs);
            case Membership.Contact.Root(HostAddress address, boolean here) ->
                membership.rank() == 0 && !here
                        ? serveAndJoin(membership, List.of(address), timeouts, deadlineNs)
                        : BootstrapClient.join(membership, address, timeouts, deadlineNs);
            case Membership.Contact.StaticHosts hosts -> {
                HostAddress first = hosts.hosts().getFirst();
                yield membership.rank() == 0
                        ? serveAndJoin(membership, hosts.hosts(), timeouts, deadlineNs)
                        : BootstrapClient.join(membership, first, timeouts, deadlineNs);
            }
        };
    }

    private static Bootstrap serveAndJoin(
            Membership membership, List<HostAddress> hosts, Timeouts timeouts, long deadlineNs) {
        HostAddress address = hosts.getFirst();
        InetSocketAddress where = listenAt(address, hosts);
        BootstrapServer server;
        try {
            if (where.isUnresolved()) {
                throw new IOException("no address is known for the host name " + address.host());
            }
            server = new BootstrapServer(
                    where, new BootstrapServer.Settings(membership.size(), membership.secret(), 0, timeouts.peerNs()));
        } catch (IOException e) {
            throw new SessionException(
                    membership + ": rank 0 cannot listen at " + address + ": " + e.getMessage()
                            + ": expected a free port and an address of this machine "
                            + (membership.contact() instanceof Membership.Contact.Root
                                    ? "in the request"
                                    : "as first entry of madeleine.session.hosts"),
                    e);
        }
        server.serveOnly(membership.name());
        try {
            // The server goes on after this process has left, until the others have left too.
            return BootstrapClient.join(membership, address, timeouts, deadlineNs);
        } catch (RuntimeException e) {
            server.close();
            throw e;
        }
    }

    /**
     * The address to listen at. Many systems resolve their own name to a loopback address, where other machines could
     * not reach the server; it then listens on all addresses. Clients have to know the secret.
     */
    private static InetSocketAddress listenAt(HostAddress address, List<HostAddress> hosts) {
        boolean amongMachines = !hosts.stream().allMatch(HostAddress::isLoopback);
        return amongMachines && address.isLoopback() ? new InetSocketAddress(address.port()) : address.resolve();
    }
}
