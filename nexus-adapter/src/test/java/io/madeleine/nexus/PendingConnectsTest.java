package io.madeleine.nexus;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.nexus.wire.Link;
import java.net.InetSocketAddress;
import java.security.NoSuchAlgorithmException;
import java.security.SecureRandom;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import javax.net.ssl.KeyManager;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLContextSpi;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLServerSocketFactory;
import javax.net.ssl.SSLSessionContext;
import javax.net.ssl.SSLSocketFactory;
import javax.net.ssl.TrustManager;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Requests that wait for a connection which cannot be made. */
@Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class PendingConnectsTest {
    private static final String[] ANY = {};

    /** Throws what a trust manager of the program might throw, once it has been given to the options. */
    private static final class Unreliable extends SSLContext {
        Unreliable() throws NoSuchAlgorithmException {
            super(new Factories(), SSLContext.getDefault().getProvider(), "TLS");
        }
    }

    private static final class Factories extends SSLContextSpi {
        private final AtomicInteger asked = new AtomicInteger();

        @Override
        protected SSLSocketFactory engineGetSocketFactory() {
            if (asked.getAndIncrement() > 0) {
                throw new IllegalStateException("unreliable");
            }
            return (SSLSocketFactory) SSLSocketFactory.getDefault();
        }

        @Override
        protected void engineInit(KeyManager[] keys, TrustManager[] trusted, SecureRandom random) {}

        @Override
        protected SSLServerSocketFactory engineGetServerSocketFactory() {
            throw new UnsupportedOperationException();
        }

        @Override
        protected SSLEngine engineCreateSSLEngine() {
            throw new UnsupportedOperationException();
        }

        @Override
        protected SSLEngine engineCreateSSLEngine(String host, int port) {
            throw new UnsupportedOperationException();
        }

        @Override
        protected SSLSessionContext engineGetServerSessionContext() {
            throw new UnsupportedOperationException();
        }

        @Override
        protected SSLSessionContext engineGetClientSessionContext() {
            throw new UnsupportedOperationException();
        }
    }

    @Test
    void shouldGoOnWithLaterRequestsWhenConnectingThrowsWhatNobodyExpects() throws Exception {
        try (World server = new World("sci", 1, _ -> {});
                World guests = new World("sci", 1, ContextOptions.DEFAULT.withTls(new Unreliable()), _ -> {})) {
            AttachPoint point = server.of(0)
                    .allowAttach(new InetSocketAddress("127.0.0.1", 0), List.of("127.0.0.1"), _ -> Optional.empty());
            Node node = guests.of(0).node();
            Peer peer = node.nodes().of(server.of(0).node().nodes().self());
            WanRoutes.of(peer).add(List.of(new WanAddress("127.0.0.1", point.port(), 0, 0)));
            PendingConnects pendingConnects = new PendingConnects(node, peer);
            for (int failures = 1; failures <= 2; failures++) {
                int expected = failures;
                pendingConnects.add(new Arguments(), new Link(1), 1, ANY);
                World.await(() -> node.failures().sendFailureCount() == expected);
                World.await(pendingConnects::isEmpty);
            }
            assertTrue(WanRoutes.of(peer).mayConnect(ANY));
        }
    }
}
