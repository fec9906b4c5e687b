package io.madeleine.nexus.wan;

import io.madeleine.admission.Acceptor;
import io.madeleine.admission.NoticeLimit;
import io.madeleine.admission.UnauthenticatedConnection;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.concurrent.ThreadFactory;

/**
 * Listens for wide-area connections, and passes on those that prove that they know the secret. Until a connection has
 * {@linkplain Preauthentication knocked} correctly, one thread serves it, together with all others, without TLS
 * ({@link Acceptor}); if there are too many, a client that is refused tries again. Connections that have knocked
 * take less than 16 MiB more in all ({@link TlsAdmission}).
 *
 * <p>Threading: thread-safe; one daemon thread.
 */
public final class Listener implements AutoCloseable {
    private final NoticeLimit notices = new NoticeLimit(System.getLogger("io.madeleine.nexus"), "");
    private final TlsAdmission admission;
    private final Acceptor<Preauthentication> acceptor;

    /** Receives authenticated connections. */
    @FunctionalInterface
    public interface Guests {
        /**
         * Takes a connection. Runs in a virtual thread of its own; the connect timeout covers this call, too.
         *
         * <p>Ownership: the connection is the callee's from then on, unless it throws.
         */
        void welcome(SealedConnection connection) throws IOException;
    }

    /**
     * Starts to listen.
     *
     * @param timeoutMs the time that a connection may take until {@link Guests#welcome} has returned
     */
    public Listener(InetSocketAddress address, Credentials credentials, int timeoutMs, Guests guests)
            throws IOException {
        this(
                address,
                credentials,
                timeoutMs,
                guests,
                Thread.ofVirtual().name("nexus-wan-guest").factory(),
                Acceptor.MAX_UNAUTHENTICATED);
    }

    Listener(
            InetSocketAddress address,
            Credentials credentials,
            int timeoutMs,
            Guests guests,
            ThreadFactory threads,
            int maxUnauthenticated)
            throws IOException {
        admission = new TlsAdmission(credentials, timeoutMs, guests, threads, notices);
        acceptor = new Acceptor<>(
                address,
                new Acceptor.Settings("nexus-wan-listener", timeoutMs, Deadline.text(timeoutMs), maxUnauthenticated),
                notices,
                new Acceptor.Host<>() {
                    @Override
                    public Preauthentication newHandshake() {
                        return new Preauthentication(credentials);
                    }

                    @Override
                    public void proven(UnauthenticatedConnection<Preauthentication> connection) {
                        admission.enter(connection);
                    }
                });
    }

    /** The TCP port. */
    public int port() {
        return acceptor.address().getPort();
    }

    /** Stops listening; connections that are not welcome yet are closed, all others stay. Idempotent. */
    @Override
    public void close() {
        notices.close();
        acceptor.close();
        admission.close();
    }
}
