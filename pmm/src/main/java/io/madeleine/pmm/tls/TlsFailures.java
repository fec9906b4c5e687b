package io.madeleine.pmm.tls;

import java.nio.channels.ClosedChannelException;
import java.security.cert.CertPathBuilderException;
import java.security.cert.CertPathValidatorException;
import java.security.cert.CertificateExpiredException;
import java.security.cert.CertificateNotYetValidException;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.net.ssl.SSLHandshakeException;
import org.jspecify.annotations.Nullable;

/**
 * Explains TLS failures in messages that name the key to change.
 *
 * <p>Threading: immutable.
 */
public final class TlsFailures {

    /** An alert of the peer, in the wording of the JDK or of BoringSSL. */
    private static final Pattern ALERT = Pattern.compile("(?:Received fatal alert: |(?:SSLV3|TLSV1)_ALERT_)(\\w+)");

    /** An initiator without a certificate, in the wording of the JDK or of BoringSSL. */
    private static final Pattern NO_CERTIFICATE =
            Pattern.compile("Empty client certificate chain|PEER_DID_NOT_RETURN_A_CERTIFICATE");

    private final String keys;

    /**
     * Explains failures of one driver.
     *
     * @param keys what the keys of its certificates begin with, as in {@code madeleine.tm.tcp.tls.}
     */
    public TlsFailures(String keys) {
        this.keys = keys;
    }

    /** Whether another attempt is useless. */
    public static boolean isDecided(Throwable cause) {
        return !(cause instanceof ClosedChannelException);
    }

    /** The message for a failure. */
    public String describe(Throwable cause) {
        String said = String.valueOf(cause.getMessage());
        Matcher alert = ALERT.matcher(said);
        if (alert.find()) {
            return alert(alert.group(1).toLowerCase(Locale.ROOT));
        }
        Throwable expired = find(cause, CertificateExpiredException.class);
        if (expired != null) {
            return "the peer's certificate has expired (" + expired.getMessage() + "); renew " + keys
                    + "certificate there";
        }
        Throwable early = find(cause, CertificateNotYetValidException.class);
        if (early != null) {
            return "the peer's certificate is not valid yet (" + early.getMessage() + "); see " + keys
                    + "certificate there, and the clocks of both hosts";
        }
        if (find(cause, CertPathBuilderException.class) != null
                || find(cause, CertPathValidatorException.class) != null) {
            return "the peer's certificate is unknown: no certificate in " + keys
                    + "trusted of this process signed it (" + root(cause).getMessage() + ")";
        }
        if (cause instanceof SSLHandshakeException
                && NO_CERTIFICATE.matcher(said).find()) {
            return "the peer shows no certificate signed by one in " + keys + "trusted of this process; check " + keys
                    + "certificate there";
        }
        return cause instanceof ClosedChannelException
                ? "the peer closed the connection during the TLS handshake; its log tells why"
                : "the TLS handshake failed: " + root(cause).getMessage();
    }

    private String alert(String name) {
        return switch (name) {
            case "certificate_expired" ->
                "the peer says that this process's certificate has expired; renew " + keys + "certificate";
            case "certificate_unknown", "unknown_ca", "bad_certificate" ->
                "the peer does not trust this process's certificate (" + name + "); its " + keys
                        + "trusted must contain the issuer of " + keys + "certificate of this process";
            // BoringSSL sends this alert for a certificate that it cannot trace to a trusted one
            case "internal_error" ->
                "the peer failed, or does not trust this process's certificate (internal_error); its " + keys
                        + "trusted must contain the issuer of " + keys + "certificate of this process";
            case "certificate_required" ->
                "the peer trusts no issuer of this process's certificate; its " + keys
                        + "trusted must contain the issuer of " + keys + "certificate of this process";
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
