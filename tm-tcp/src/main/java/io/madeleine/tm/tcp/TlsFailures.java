package io.madeleine.tm.tcp;

import io.netty.handler.ssl.NotSslRecordException;
import java.nio.channels.ClosedChannelException;
import java.security.cert.CertPathBuilderException;
import java.security.cert.CertPathValidatorException;
import java.security.cert.CertificateException;
import java.security.cert.CertificateExpiredException;
import java.security.cert.CertificateNotYetValidException;
import java.security.cert.X509Certificate;
import java.util.Locale;
import javax.net.ssl.ExtendedSSLSession;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLHandshakeException;
import org.jspecify.annotations.Nullable;

/**
 * What has to be right with a TLS session, and why it is not, in words that name the key that mends it.
 *
 * <p>Threading: stateless.
 */
final class TlsFailures {
    private static final String KEY = TcpConfig.PATH + ".tls.";
    private static final int BINDING_BYTES = 32;
    private static final String ALERT = "Received fatal alert: ";

    private TlsFailures() {}

    /**
     * What names this TLS session and no other (RFC 5705), once its peer's certificate has been looked at: the JDK does not
     * look at the dates of one that is trusted by itself.
     */
    static byte[] checkedBinding(SSLEngine engine) throws SSLException, CertificateException {
        ExtendedSSLSession session = (ExtendedSSLSession) engine.getSession();
        ((X509Certificate) session.getPeerCertificates()[0]).checkValidity();
        return session.exportKeyingMaterialData("EXPORTER-madeleine-1", new byte[0], BINDING_BYTES);
    }

    /** Whether the peer sent something else than TLS. */
    static boolean isNoTls(Throwable cause) {
        return find(cause, NotSslRecordException.class) != null;
    }

    /** Whether trying again is useless. */
    static boolean isDecided(Throwable cause) {
        return !(cause instanceof ClosedChannelException);
    }

    /** The failure in words. */
    static String describe(Throwable cause) {
        if (isNoTls(cause)) {
            return "the peer does not speak TLS; set " + KEY + "enabled alike in all processes";
        }
        String said = String.valueOf(cause.getMessage());
        if (said.contains(ALERT)) {
            return alert(said.substring(said.indexOf(ALERT) + ALERT.length()).toLowerCase(Locale.ROOT));
        }
        Throwable expired = find(cause, CertificateExpiredException.class);
        if (expired != null) {
            return "the peer's certificate has expired (" + expired.getMessage() + "); renew " + KEY
                    + "certificate there";
        }
        Throwable early = find(cause, CertificateNotYetValidException.class);
        if (early != null) {
            return "the peer's certificate is not valid yet (" + early.getMessage() + "); see " + KEY
                    + "certificate, and the clocks";
        }
        if (find(cause, CertPathBuilderException.class) != null
                || find(cause, CertPathValidatorException.class) != null) {
            return "the peer's certificate is unknown: nobody in " + KEY + "trusted of this process has signed it ("
                    + root(cause).getMessage() + ")";
        }
        if (cause instanceof SSLHandshakeException && said.contains("Empty client certificate chain")) {
            return "the peer shows no certificate that anybody in " + KEY + "trusted of this process has signed; see "
                    + KEY + "certificate there";
        }
        return cause instanceof ClosedChannelException
                ? "the peer closed the connection during the TLS handshake; its log tells why"
                : "the TLS handshake failed: " + root(cause).getMessage();
    }

    private static String alert(String name) {
        return switch (name) {
            case "certificate_expired" ->
                "the peer says that this process's certificate has expired; renew " + KEY + "certificate";
            case "certificate_unknown", "unknown_ca", "bad_certificate" ->
                "the peer does not trust this process's certificate (" + name + "); its " + KEY
                        + "trusted has to name who signed " + KEY + "certificate of this process";
            case "certificate_required" ->
                "the peer trusts nobody who signed this process's certificate; its " + KEY
                        + "trusted has to name who signed " + KEY + "certificate of this process";
            default -> "the peer ended the TLS handshake: " + name;
        };
    }

    private static <T extends Throwable> @Nullable T find(Throwable cause, Class<T> type) {
        Throwable at = cause;
        for (int depth = 0; at != null && depth < 16; depth++) {
            if (type.isInstance(at)) {
                return type.cast(at);
            }
            at = at.getCause();
        }
        return null;
    }

    private static Throwable root(Throwable cause) {
        Throwable at = cause;
        Throwable next;
        for (int depth = 0; depth < 16 && (next = at.getCause()) != null; depth++) {
            at = next;
        }
        return at;
    }
}
