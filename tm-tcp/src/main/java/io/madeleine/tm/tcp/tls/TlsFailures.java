package io.madeleine.tm.tcp.tls;

import io.madeleine.tm.tcp.config.TcpConfig;
import io.netty.handler.ssl.NotSslRecordException;

/**
 * Explains TLS failures in messages that name the key to change.
 *
 * <p>Threading: stateless.
 */
public final class TlsFailures {
    private static final String KEY = TcpConfig.PATH + ".tls.";
    private static final io.madeleine.pmm.tls.TlsFailures SHARED = new io.madeleine.pmm.tls.TlsFailures(KEY);

    private TlsFailures() {}

    /** Whether the peer sent bytes that are not TLS. */
    public static boolean isNoTls(Throwable cause) {
        Throwable at = cause;
        for (int depth = 0; at != null && depth < 16; depth++) {
            if (at instanceof NotSslRecordException) {
                return true;
            }
            at = at.getCause();
        }
        return false;
    }

    /** Whether another attempt is useless. */
    public static boolean isDecided(Throwable cause) {
        return io.madeleine.pmm.tls.TlsFailures.isDecided(cause);
    }

    /** The message for a failure. */
    public static String describe(Throwable cause) {
        return isNoTls(cause)
                ? "the peer does not speak TLS; set " + KEY + "enabled alike in all processes"
                : SHARED.describe(cause);
    }
}
