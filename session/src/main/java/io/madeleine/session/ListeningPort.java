package io.madeleine.session;

import io.madeleine.api.ConfigurationException;
import io.madeleine.api.Session;
import io.madeleine.api.SessionException;
import io.madeleine.api.SessionPort;
import io.madeleine.api.SessionRequest;
import io.madeleine.session.bootstrap.BootstrapServer;
import io.madeleine.session.bootstrap.Secrets;
import io.madeleine.session.config.ConfigSources;
import io.madeleine.session.config.HostAddress;
import io.madeleine.session.config.ProcessEnvironment;
import io.madeleine.session.config.SessionConfig;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/**
 * A port: a bootstrap server in this process, for sessions of any size that are opened at run time with this process as
 * rank 0.
 *
 * <p>Threading: thread-safe.
 */
final class ListeningPort implements SessionPort {
    private final String secret;
    private final BootstrapServer server;
    private final HostAddress address;
    private volatile boolean closed;

    private ListeningPort(String secret, BootstrapServer server, String host) {
        this.secret = secret;
        this.server = server;
        this.address = new HostAddress(host, server.address().getPort());
    }

    static ListeningPort open(String written) {
        HostAddress wanted = HostAddress.parse(written)
                .orElseThrow(() -> new ConfigurationException("port at " + written + ": expected host or host:port"));
        ConfigSources sources = ConfigSources.ofSettings(Map.of(), ProcessEnvironment.ofThisProcess());
        long peerTimeoutNs = SessionConfig.ofAnyProcess(sources).timeouts().peerNs();
        String secret = Secrets.generate();
        InetSocketAddress where = wanted.resolve();
        if (where.isUnresolved()) {
            throw new SessionException("no port can be opened at " + wanted + ": no address is known for this name");
        }
        try {
            BootstrapServer server = new BootstrapServer(
                    where, new BootstrapServer.Settings(BootstrapServer.ANY_SIZE, secret, 0, peerTimeoutNs));
            return new ListeningPort(secret, server, wanted.host());
        } catch (IOException e) {
            throw new SessionException(
                    "no port can be opened at " + wanted + ": " + e.getMessage()
                            + ": expected an address of this machine, and a free port if one is given",
                    e);
        }
    }

    @Override
    public String address() {
        return address.toString();
    }

    @Override
    public String secret() {
        return secret;
    }

    @Override
    public Session open(SessionRequest request) {
        Objects.requireNonNull(request, "request");
        if (request.rank() != 0
                || !request.address().equals(address())
                || !request.secret().equals(secret)) {
            throw new IllegalArgumentException(
                    request + ": expected rank 0 and the address and secret of the port at " + address);
        }
        if (closed) {
            throw new SessionException(request + ": the port at " + address + " is closed");
        }
        return Sessions.open(request, true, Optional.empty());
    }

    @Override
    public void close() {
        closed = true;
        server.closePort("it has closed its port");
    }
}
