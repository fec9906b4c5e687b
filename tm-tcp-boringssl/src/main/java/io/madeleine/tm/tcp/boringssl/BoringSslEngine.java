package io.madeleine.tm.tcp.boringssl;

import io.madeleine.pmm.spi.NativeAccess;
import io.madeleine.tm.tcp.spi.TlsEngine;
import io.netty.handler.ssl.OpenSsl;
import io.netty.handler.ssl.OpenSslContextOption;
import io.netty.handler.ssl.ReferenceCountedOpenSslEngine;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslProvider;
import io.netty.internal.tcnative.SSL;
import io.netty.util.AttributeKey;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.util.List;
import java.util.Optional;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLPeerUnverifiedException;

/**
 * BoringSSL, as Netty's {@code netty-tcnative-boringssl-static} provides it.
 *
 * <p>Java cannot call BoringSSL's exporter (RFC 5705). Therefore the resumption secret identifies a session (RFC 8446,
 * section 7.1: derived from the master secret and the whole handshake up to the client's Finished). Both ends have
 * computed it when the handshake is over. An HMAC with a label separates this use from any other.
 *
 * <p>Threading: thread-safe.
 */
public final class BoringSslEngine implements TlsEngine {
    private static final byte KIND = 2;
    private static final String LABEL = "EXPORTER-madeleine-1 of a resumption secret";

    /** Called by the service loader. */
    public BoringSslEngine() {}

    @Override
    public String key() {
        return "boringssl";
    }

    @Override
    public String title() {
        return "BoringSSL";
    }

    @Override
    public byte kind() {
        return KIND;
    }

    @Override
    public List<String> nativeModules() {
        return List.of("io.netty.common", "io.netty.tcnative.classes.openssl");
    }

    @Override
    public Optional<String> unavailable() {
        Optional<String> missing = NativeAccess.missing(AttributeKey.class.getModule(), SSL.class.getModule());
        if (missing.isPresent()) {
            return missing;
        }
        Throwable cause = OpenSsl.unavailabilityCause();
        if (cause != null) {
            Throwable root = cause;
            while (root.getCause() != null) {
                root = root.getCause();
            }
            return Optional.of("Netty cannot load BoringSSL: " + root.getMessage()
                    + "; is netty-tcnative-boringssl-static for this platform on the path?");
        }
        return SslProvider.isTlsv13Supported(SslProvider.OPENSSL)
                ? Optional.empty()
                : Optional.of(OpenSsl.versionString() + " has no TLS 1.3");
    }

    @Override
    public boolean prefersDirect() {
        return true;
    }

    /** BoringSSL fixes the TLS 1.3 cipher suites: AES-GCM first where the processor has AES instructions. */
    @Override
    public SslContext build(SslContextBuilder builder) throws SSLException {
        return builder.sslProvider(SslProvider.OPENSSL)
                .option(OpenSslContextOption.USE_TASKS, true)
                .build();
    }

    @Override
    public byte[] keyingMaterial(SSLEngine engine) throws SSLException, GeneralSecurityException {
        byte[] secret = SSL.getMasterKey(((ReferenceCountedOpenSslEngine) engine).sslPointer());
        if (secret == null || secret.length < 32) {
            throw new SSLPeerUnverifiedException("the TLS session has no resumption secret");
        }
        Mac mac = Mac.getInstance("HmacSHA256");
        mac.init(new SecretKeySpec(secret, "HmacSHA256"));
        return mac.doFinal(LABEL.getBytes(StandardCharsets.US_ASCII));
    }
}
