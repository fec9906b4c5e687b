package io.madeleine.tm.tcp.tls;

import io.madeleine.tm.tcp.spi.TlsEngine;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslProvider;
import java.util.List;
import java.util.Optional;
import javax.net.ssl.ExtendedSSLSession;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLException;

/** The JDK's TLS; needs no further module. Threading: stateless. */
final class JdkTls implements TlsEngine {
    static final JdkTls INSTANCE = new JdkTls();

    private static final int BINDING_BYTES = 32;

    /** The first suite is the fastest where the processor has AES instructions. */
    private static final List<String> SUITES =
            List.of("TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256");

    private JdkTls() {}

    @Override
    public String key() {
        return "jdk";
    }

    @Override
    public String title() {
        return "the JDK";
    }

    @Override
    public byte kind() {
        return 1;
    }

    @Override
    public Optional<String> unavailable() {
        return Optional.empty();
    }

    @Override
    public List<String> nativeModules() {
        return List.of();
    }

    /** False: the JDK encrypts between arrays three times as fast as between direct buffers. */
    @Override
    public boolean prefersDirect() {
        return false;
    }

    @Override
    public SslContext build(SslContextBuilder builder) throws SSLException {
        return builder.sslProvider(SslProvider.JDK).ciphers(SUITES).build();
    }

    /** Exported keying material (RFC 5705; RFC 8446, section 7.5). */
    @Override
    public byte[] keyingMaterial(SSLEngine engine) throws SSLException {
        ExtendedSSLSession session = (ExtendedSSLSession) engine.getSession();
        return session.exportKeyingMaterialData("EXPORTER-madeleine-1", new byte[0], BINDING_BYTES);
    }
}
