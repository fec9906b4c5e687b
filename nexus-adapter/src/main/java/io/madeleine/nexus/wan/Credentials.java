package io.madeleine.nexus.wan;

import io.madeleine.admission.Proofs;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;

/**
 * The credentials of this process for wide-area connections: a key derived from the secret, and certificates.
 *
 * <p>Threading: immutable.
 */
public final class Credentials {
    private final byte[] key;
    private final SSLContext tls;

    /**
     * Creates credentials.
     *
     * @param key a key derived from the secret; it is copied
     * @param tls this process's certificate and trusted authorities; if null, the process makes a self-signed
     *     certificate and trusts every peer that knows the secret
     */
    public Credentials(byte[] key, @Nullable SSLContext tls) {
        this.key = key.clone();
        this.tls = tls == null ? SelfSigned.context() : tls;
    }

    SSLContext tls() {
        return tls;
    }

    byte[] proof(String purpose, byte[]... parts) {
        return Proofs.proof(key, purpose, parts);
    }
}
