package io.madeleine.nexus.wan;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.admission.HandshakeException;
import io.madeleine.admission.Proofs;
import io.madeleine.nexus.ContextOptions;
import java.math.BigInteger;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.cert.X509Certificate;
import java.security.spec.ECGenParameterSpec;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.Date;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.KeyManager;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManagerFactory;
import org.bouncycastle.asn1.x500.X500Name;
import org.bouncycastle.asn1.x509.BasicConstraints;
import org.bouncycastle.asn1.x509.ExtendedKeyUsage;
import org.bouncycastle.asn1.x509.Extension;
import org.bouncycastle.asn1.x509.KeyPurposeId;
import org.bouncycastle.cert.jcajce.JcaX509CertificateConverter;
import org.bouncycastle.cert.jcajce.JcaX509v3CertificateBuilder;
import org.bouncycastle.operator.jcajce.JcaContentSignerBuilder;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Certificates of a program's own that do not do: both ends are told so. */
@Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class CertificatesTest {
    private static final int TIMEOUT_MS = 10_000;
    private static final char[] PASSWORD = new char[0];
    private static final Duration YEAR = Duration.ofDays(365);

    @RegisterExtension
    final HeardWarnings heard = new HeardWarnings();

    private final BlockingQueue<String> warnings = heard.warnings;

    /** Who signs certificates. */
    private record Authority(KeyPair keys, X509Certificate certificate) {
        static Authority of(String name) throws Exception {
            KeyPair keys = newKeys();
            return new Authority(keys, sign(name, keys.getPrivate(), name, keys, YEAR, null));
        }

        /** With a certificate that is good for so long, and for that purpose only if there is one. */
        SSLContext context(Duration left, @Nullable KeyPurposeId purpose) throws Exception {
            KeyPair own = newKeys();
            X509Certificate signed = sign("CN=authority", keys.getPrivate(), "CN=own", own, left, purpose);
            KeyStore store = KeyStore.getInstance("PKCS12");
            store.load(null, PASSWORD);
            store.setKeyEntry("own", own.getPrivate(), PASSWORD, new X509Certificate[] {signed});
            KeyManagerFactory factory = KeyManagerFactory.getInstance("PKIX");
            factory.init(store, PASSWORD);
            return context(factory.getKeyManagers());
        }

        SSLContext context(KeyManager[] own) throws Exception {
            KeyStore store = KeyStore.getInstance("PKCS12");
            store.load(null, PASSWORD);
            store.setCertificateEntry("authority", certificate);
            TrustManagerFactory trusted = TrustManagerFactory.getInstance("PKIX");
            trusted.init(store);
            SSLContext context = SSLContext.getInstance("TLS");
            context.init(own, trusted.getTrustManagers(), null);
            return context;
        }
    }

    private static KeyPair newKeys() throws Exception {
        KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
        generator.initialize(new ECGenParameterSpec("secp256r1"));
        return generator.generateKeyPair();
    }

    private static X509Certificate sign(
            String issuer, PrivateKey with, String name, KeyPair keys, Duration left, @Nullable KeyPurposeId purpose)
            throws Exception {
        Instant now = Instant.now();
        JcaX509v3CertificateBuilder builder = new JcaX509v3CertificateBuilder(
                new X500Name(issuer),
                BigInteger.ONE,
                Date.from(now.minus(YEAR)),
                Date.from(now.plus(left)),
                new X500Name(name),
                keys.getPublic());
        if (issuer.equals(name)) {
            builder.addExtension(Extension.basicConstraints, true, new BasicConstraints(true));
        }
        if (purpose != null) {
            builder.addExtension(Extension.extendedKeyUsage, false, new ExtendedKeyUsage(purpose));
        }
        return new JcaX509CertificateConverter()
                .getCertificate(builder.build(new JcaContentSignerBuilder("SHA256withECDSA").build(with)));
    }

    private static Credentials credentials(@Nullable SSLContext tls) {
        return new Credentials(new byte[32], tls);
    }

    /** What the client and the log of the server say, a few times: no race may change it. */
    private void assertTold(
            SSLContext server, @Nullable SSLContext client, String atClient, String atServer, String mends)
            throws Exception {
        Credentials guest = credentials(client);
        for (int i = 0; i < 5; i++) {
            warnings.clear();
            try (Listener listener = new Listener(
                    new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
                    credentials(server),
                    TIMEOUT_MS,
                    SealedConnection::close)) {
                HandshakeException e = assertThrows(
                        HandshakeException.class,
                        () -> Handshake.connect("127.0.0.1", listener.port(), guest, TIMEOUT_MS)
                                .close());
                String told = String.valueOf(e.getMessage());
                assertTrue(told.contains(atClient) && told.contains(mends), told);
                String warning = String.valueOf(warnings.poll(20, TimeUnit.SECONDS));
                assertTrue(warning.contains(atServer) && warning.contains(mends), warning);
            }
        }
    }

    @Test
    void shouldTellBothEndsThatAClientsCertificateDoesNotDo() throws Exception {
        Authority authority = Authority.of("CN=authority");
        SSLContext server = authority.context(YEAR, null);
        SSLContext expired = authority.context(Duration.ofDays(-1), null);
        SSLContext forServers = authority.context(YEAR, KeyPurposeId.id_kp_serverAuth);
        String mends = "ContextOptions.withTls";
        assertTold(server, expired, "Received fatal alert: certificate_", "validity check failed", mends);
        assertTold(server, forServers, "Received fatal alert: certificate_", "key usage", mends);
    }

    @Test
    void shouldTellBothEndsThatAClientHasNoCertificateThatTheServerTakes() throws Exception {
        Authority authority = Authority.of("CN=authority");
        SSLContext server = authority.context(YEAR, null);
        SSLContext keyless = authority.context(new KeyManager[0]);
        KeyManagerFactory others = KeyManagerFactory.getInstance("PKIX");
        KeyPair own = newKeys();
        KeyStore store = KeyStore.getInstance("PKCS12");
        store.load(null, PASSWORD);
        X509Certificate signed = sign("CN=other", newKeys().getPrivate(), "CN=own", own, YEAR, null);
        store.setKeyEntry("own", own.getPrivate(), PASSWORD, new X509Certificate[] {signed});
        others.init(store, PASSWORD);
        String here = "no certificate that the other end accepts";
        String mends = "ContextOptions.withTls";
        assertTold(server, keyless, here, "certificate_required", mends);
        assertTold(server, authority.context(others.getKeyManagers()), here, "certificate_required", mends);
    }

    /** What both ends bind their proofs to. */
    private static byte[] binding(SSLContext server, SSLContext client) throws Exception {
        BlockingQueue<SealedConnection> guests = new LinkedBlockingQueue<>();
        try (Listener listener = new Listener(
                        new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
                        credentials(server),
                        TIMEOUT_MS,
                        guests::add);
                SealedConnection own =
                        Handshake.connect("127.0.0.1", listener.port(), credentials(client), TIMEOUT_MS);
                SealedConnection guest = guests.poll(TIMEOUT_MS, TimeUnit.MILLISECONDS)) {
            assertArrayEquals(own.binding(), guest.binding());
            return own.binding();
        }
    }

    private static byte[] certificate(byte[] binding, int number) {
        int from = 2 * Integer.BYTES + number * Proofs.BYTES;
        return Arrays.copyOfRange(binding, from, from + Proofs.BYTES);
    }

    @Test
    void shouldBindProofsToTheClientsCertificateAndThenToTheServers() throws Exception {
        Authority authority = Authority.of("CN=authority");
        SSLContext server = authority.context(YEAR, null);
        byte[] one = binding(server, authority.context(YEAR, null));
        byte[] other = binding(server, authority.context(YEAR, null));
        assertFalse(Arrays.equals(certificate(one, 0), certificate(other, 0)), "the clients differ");
        assertArrayEquals(certificate(one, 1), certificate(other, 1), "the server is the same");
        assertFalse(Arrays.equals(certificate(one, 0), certificate(one, 1)), "both ends have one of their own");
    }

    @Test
    void shouldNotSpeakAnOlderTls() throws Exception {
        Authority authority = Authority.of("CN=authority");
        Credentials key = credentials(authority.context(YEAR, null));
        try (Listener listener = new Listener(
                        new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
                        key,
                        TIMEOUT_MS,
                        SealedConnection::close);
                Socket socket = new Socket(InetAddress.getLoopbackAddress(), listener.port())) {
            Preauthentication.knock(socket, key);
            SSLSocket tls = (SSLSocket) key.tls().getSocketFactory().createSocket(socket, "127.0.0.1", 0, true);
            tls.setEnabledProtocols(new String[] {"TLSv1.2"});
            SSLException e = assertThrows(SSLException.class, tls::startHandshake);
            assertTrue(String.valueOf(e.getMessage()).contains("protocol_version"), e::toString);
        }
    }

    @Test
    void shouldRefuseAContextThatIsNotInitialised() throws Exception {
        SSLContext raw = SSLContext.getInstance("TLS");
        IllegalArgumentException e =
                assertThrows(IllegalArgumentException.class, () -> ContextOptions.DEFAULT.withTls(raw));
        assertTrue(String.valueOf(e.getMessage()).contains("SSLContext.init"), e::toString);
    }
}
