package io.madeleine.tm.bip.tls;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.pmm.tls.TlsFailures;
import io.madeleine.testkit.Certificates;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.concurrent.CountDownLatch;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** TLS handshakes of two ends whose bytes this test carries. */
@Timeout(30)
class TlsExchangeTest {
    private static final TlsFailures FAILURES = new TlsFailures("madeleine.tm.bip.tls.");

    private static final TlsWork AT_ONCE = new TlsWork() {
        @Override
        void execute(Runnable task) {
            task.run();
        }
    };

    @TempDir
    Path folder;

    private Certificates authority;

    @BeforeEach
    void sign() {
        authority = new Certificates(folder, "authority", "%s");
    }

    private static TlsExchange end(SSLContext context, boolean isClient) {
        SSLEngine engine = context.createSSLEngine();
        engine.setUseClientMode(isClient);
        engine.setNeedClientAuth(true);
        return new TlsExchange(engine, AT_ONCE, () -> {});
    }

    /** Carries bytes in small pieces until nothing moves. */
    private static void run(TlsExchange one, TlsExchange other) {
        for (boolean moved = true; moved; ) {
            one.advance();
            other.advance();
            moved = carry(one, other) | carry(other, one) | one.isReady() | other.isReady();
        }
    }

    private static boolean carry(TlsExchange from, TlsExchange to) {
        byte[] bytes = from.takeOutput(Math.min(100, to.room()));
        if (bytes.length > 0) {
            to.receive(bytes);
        }
        return bytes.length > 0;
    }

    private SSLContext context(String name, int startDays, int days) throws Exception {
        return authority.sign(name, startDays, days).context(authority);
    }

    @Test
    void shouldDeriveTheSameSecretsAtBothEnds() throws Exception {
        TlsExchange client = end(context("client", -1, 10), true);
        TlsExchange server = end(context("server", -1, 10), false);
        run(client, server);
        assertTrue(client.isDone() && server.isDone());
        assertNull(client.failure());
        byte[] context = {1, 2, 3};
        byte[] secret = client.secret("EXPORTER-a", context, 32);
        assertArrayEquals(secret, server.secret("EXPORTER-a", context, 32));
        assertFalse(Arrays.equals(secret, client.secret("EXPORTER-b", context, 32)));
        assertFalse(Arrays.equals(secret, client.secret("EXPORTER-a", new byte[] {1, 2}, 32)));
        assertArrayEquals(
                client.binding().with((byte) 1, true), server.binding().with((byte) 1, false));
    }

    /** Who has stolen the certificates and stands between has two sessions: the proofs of the ends differ. */
    @Test
    void shouldBindProofsToOneSession() throws Exception {
        SSLContext one = context("client", -1, 10);
        SSLContext other = context("server", -1, 10);
        byte[][] found = new byte[2][];
        for (int i = 0; i < 2; i++) {
            TlsExchange client = end(one, true);
            run(client, end(other, false));
            found[i] = client.binding().with((byte) 1, true);
        }
        assertFalse(Arrays.equals(found[0], found[1]));
    }

    @Test
    void shouldRefuseACertificateThatHasExpiredAndTellThePeer() throws Exception {
        TlsExchange client = end(context("client", -1, 10), true);
        TlsExchange server = end(context("expired", -20, 10), false);
        run(client, server);
        Exception seen = client.failure();
        assertNotNull(seen);
        assertTrue(FAILURES.describe(seen).contains("the peer's certificate has expired"), FAILURES.describe(seen));
        Exception told = server.failure();
        assertNotNull(told);
        assertTrue(FAILURES.describe(told).contains("madeleine.tm.bip.tls.certificate"), FAILURES.describe(told));
    }

    @Test
    void shouldNotDoWhatWaitsForAnExchangeThatIsGivenUp() throws Exception {
        CountDownLatch free = new CountDownLatch(1);
        try (TlsWork work = new TlsWork()) {
            work.execute(() -> awaitQuietly(free));
            SSLEngine engine = context("server", -1, 10).createSSLEngine();
            engine.setUseClientMode(false);
            TlsExchange server = new TlsExchange(engine, work, () -> {});
            TlsExchange client = end(context("client", -1, 10), true);
            run(client, server);
            assertEquals(1, work.waitingCount());
            server.abandon();
            assertEquals(0, work.waitingCount());
            free.countDown();
        }
    }

    private static void awaitQuietly(CountDownLatch free) {
        try {
            free.await();
        } catch (InterruptedException _) {
            // the test is over
        }
    }

    @Test
    void shouldFailOnBytesThatAreNotTls() throws Exception {
        TlsExchange server = end(context("server", -1, 10), false);
        server.advance();
        server.receive(new byte[200]);
        server.advance();
        assertNotNull(server.failure());
        assertFalse(server.isDone());
    }
}
