package io.madeleine.nexus.wan;

import java.io.IOException;
import java.math.BigInteger;
import java.net.Socket;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.KeyStore;
import java.security.SecureRandom;
import java.security.cert.X509Certificate;
import java.security.spec.ECGenParameterSpec;
import java.time.Duration;
import java.time.Instant;
import java.util.Date;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509ExtendedTrustManager;
import org.bouncycastle.asn1.x500.X500Name;
import org.bouncycastle.cert.X509CertificateHolder;
import org.bouncycastle.cert.jcajce.JcaX509CertificateConverter;
import org.bouncycastle.cert.jcajce.JcaX509v3CertificateBuilder;
import org.bouncycastle.operator.OperatorCreationException;
import org.bouncycastle.operator.jcajce.JcaContentSignerBuilder;

/**
 * TLS for processes without certificates: this process signs its own, and accepts any. The secret proves the identity
 * of the other end; its proof is bound to the TLS session and to both certificates ({@link Handshake}).
 *
 * <p>Threading: stateless.
 */
final class SelfSigned {
    private static final char[] PASSWORD = new char[0];

    /** In memory only: PKCS12, the default, would derive a key of its own in ten thousand rounds, for nothing. */
    private static final String KEY_STORE = "JKS";

    private static final Duration CLOCKS_DIFFER = Duration.ofDays(2);
    private static final Duration VALID = Duration.ofDays(3650);

    private SelfSigned() {}

    static SSLContext context() {
        try {
            KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
            generator.initialize(new ECGenParameterSpec("secp256r1"));
            KeyPair pair = generator.generateKeyPair();
            KeyStore store = KeyStore.getInstance(KEY_STORE);
            store.load(null, PASSWORD);
            store.setKeyEntry("own", pair.getPrivate(), PASSWORD, new X509Certificate[] {certificate(pair)});
            KeyManagerFactory keys = KeyManagerFactory.getInstance("PKIX");
            keys.init(store, PASSWORD);
            SSLContext context = SSLContext.getInstance("TLSv1.3");
            context.init(keys.getKeyManagers(), new TrustManager[] {new Anybody()}, null);
            return context;
        } catch (GeneralSecurityException | IOException | OperatorCreationException e) {
            throw new IllegalStateException("no certificate for TLS 1.3 can be made: " + e, e);
        }
    }

    private static X509Certificate certificate(KeyPair pair)
            throws GeneralSecurityException, OperatorCreationException {
        X500Name name = new X500Name("CN=madeleine");
        Instant now = Instant.now();
        X509CertificateHolder made = new JcaX509v3CertificateBuilder(
                        name,
                        new BigInteger(64, new SecureRandom()).setBit(0),
                        Date.from(now.minus(CLOCKS_DIFFER)),
                        Date.from(now.plus(VALID)),
                        name,
                        pair.getPublic())
                .build(new JcaContentSignerBuilder("SHA256withECDSA").build(pair.getPrivate()));
        return new JcaX509CertificateConverter().getCertificate(made);
    }

    /** Accepts any certificate: TLS proves the possession of its key, the secret proves whose it is. */
    private static final class Anybody extends X509ExtendedTrustManager {
        @Override
        public void checkClientTrusted(X509Certificate[] chain, String type, Socket socket) {}

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String type, Socket socket) {}

        @Override
        public void checkClientTrusted(X509Certificate[] chain, String type, SSLEngine engine) {}

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String type, SSLEngine engine) {}

        @Override
        public void checkClientTrusted(X509Certificate[] chain, String type) {}

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String type) {}

        @Override
        public X509Certificate[] getAcceptedIssuers() {
            return new X509Certificate[0];
        }
    }
}
