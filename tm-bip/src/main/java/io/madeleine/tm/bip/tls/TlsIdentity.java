package io.madeleine.tm.bip.tls;

import io.madeleine.api.ConfigurationException;
import io.madeleine.pmm.tls.PemFiles;
import io.madeleine.pmm.tls.PemIdentity;
import java.io.IOException;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.X509Certificate;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSessionContext;
import javax.net.ssl.TrustManagerFactory;

/**
 * This process's part in TLS handshakes: its certificate, whom it trusts, and the thread that signs and verifies. TLS
 * 1.3 by the JDK; both ends show a certificate. Names in certificates are not compared with addresses: the session's
 * secret, bound to the TLS session, proves that the peer is the intended one.
 *
 * <p>Threading: thread-safe.
 */
public final class TlsIdentity implements AutoCloseable {
    private static final char[] PASSWORD = {};

    /** In memory only: PKCS12, the default, would derive a key of its own in ten thousand rounds, for nothing. */
    private static final String KEY_STORE = "JKS";

    private static final String[] PROTOCOLS = {"TLSv1.3"};

    private final SSLContext context;
    private final TlsWork work;

    private TlsIdentity(SSLContext context) {
        this.context = context;
        this.work = new TlsWork();
    }

    /**
     * Reads the files.
     *
     * @param keys what the keys of the files begin with
     * @param because the setting that makes them necessary
     * @throws ConfigurationException if they cannot be used
     */
    public static TlsIdentity load(String keys, String because, PemFiles files) {
        PemIdentity own = PemIdentity.load(keys, because, files);
        try {
            KeyStore mine = emptyStore();
            mine.setKeyEntry("own", own.key(), PASSWORD, own.chain());
            KeyManagerFactory shown = KeyManagerFactory.getInstance("PKIX");
            shown.init(mine, PASSWORD);
            KeyStore others = emptyStore();
            int count = 0;
            for (X509Certificate each : own.trusted()) {
                others.setCertificateEntry("trusted" + count++, each);
            }
            TrustManagerFactory trust = TrustManagerFactory.getInstance("PKIX");
            trust.init(others);
            SSLContext context = SSLContext.getInstance(PROTOCOLS[0]);
            context.init(shown.getKeyManagers(), trust.getTrustManagers(), null);
            keepNoSessions(context.getClientSessionContext());
            keepNoSessions(context.getServerSessionContext());
            return new TlsIdentity(context);
        } catch (GeneralSecurityException | IOException e) {
            throw new ConfigurationException(
                    "TLS cannot be used with " + keys + "certificate = " + files.certificate() + ": " + e.getMessage(),
                    e);
        }
    }

    /** No connection resumes the TLS session of another, but the JDK would keep them all. */
    private static void keepNoSessions(SSLSessionContext sessions) {
        sessions.setSessionCacheSize(1); // 0 is no bound
    }

    private static KeyStore emptyStore() throws GeneralSecurityException, IOException {
        KeyStore store = KeyStore.getInstance(KEY_STORE);
        store.load(null, null);
        return store;
    }

    /**
     * Begins a handshake.
     *
     * @param isClient whether this end sends first
     * @param onStep called by another thread when {@link TlsExchange#advance} can go on
     */
    public TlsExchange begin(boolean isClient, Runnable onStep) {
        SSLEngine engine = context.createSSLEngine();
        SSLParameters parameters = engine.getSSLParameters();
        parameters.setProtocols(PROTOCOLS);
        parameters.setNeedClientAuth(true);
        parameters.setEndpointIdentificationAlgorithm(null);
        engine.setSSLParameters(parameters);
        engine.setUseClientMode(isClient);
        return new TlsExchange(engine, work, onStep);
    }

    /** How many exchanges wait for the thread that signs and verifies. */
    public int waitingCount() {
        return work.waitingCount();
    }

    @Override
    public void close() {
        work.close();
    }
}
