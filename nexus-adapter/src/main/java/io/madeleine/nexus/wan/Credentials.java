package io.madeleine.nexus.wan;

import io.madeleine.admission.Proofs;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;

/**
 * What this process shows and expects when it connects: a key made of the secret, and certificates.
 *
 * <p>Threading: immutable.
 */
public final class Credentials {
    private final byte[] key;
    private final SSLContext tls;

    /**
     * Ready to connect.
     *
     * @param key what only those have that know the secret
     * @param tls this process's certificate and whom it trusts; none: it makes one, and trusts whoever knows the secret
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
