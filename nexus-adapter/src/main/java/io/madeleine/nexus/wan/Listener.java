package io.madeleine.nexus.wan;

import io.madeleine.admission.Acceptor;
import io.madeleine.admission.NoticeLimit;
import io.madeleine.admission.UnauthenticatedConnection;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.concurrent.ThreadFactory;

/**
 * Listens for connections and lets in who proves to know the secret. Until they have {@linkplain Knock knocked} rightly, an
 * {@link Acceptor} serves all who come, without TLS; who loses its place there comes again if it is a guest. Those who have knocked
 * take less than 16 MiB more ({@link Entrance}).
 *
 * <p>Threading: thread-safe; one daemon thread.
 */
public final class Listener implements AutoCloseable {
    private final NoticeLimit notices = new NoticeLimit(System.getLogger("io.madeleine.nexus"), "");
    private final Acceptor<Knock> acceptor;

    /** Told of who has come in. */
    @FunctionalInterface
    public interface Guests {
        /**
         * Called in a virtual thread of the connection's own, which the time for strangers bounds until it returns.
         * Ownership: the connection is the callee's from then on, unless it throws.
         */
        void welcome(SealedConnection connection) throws IOException;
    }

    /**
     * Begins to listen.
     *
     * @param timeoutMs how long a stranger may take to become a guest
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
        Entrance entrance = new Entrance(credentials, timeoutMs, guests, threads, notices);
        acceptor = new Acceptor<>(
                address,
                new Acceptor.Settings("nexus-wan-listener", timeoutMs, Deadline.text(timeoutMs), maxUnauthenticated),
                notices,
                new Acceptor.Host<>() {
                    @Override
                    public Knock newHandshake() {
                        return new Knock(credentials);
                    }

                    @Override
                    public void proven(UnauthenticatedConnection<Knock> connection) {
                        entrance.enter(connection);
                    }
                });
    }

    /** The port it listens on. */
    public int port() {
        return acceptor.address().getPort();
    }

    /** Nobody can connect any more; connections stay. Idempotent. */
    @Override
    public void close() {
        notices.close();
        acceptor.close();
    }
}
