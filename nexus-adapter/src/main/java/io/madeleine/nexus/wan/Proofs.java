package io.madeleine.nexus.wan;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * What only an owner of the key can say: HMAC-SHA256 (RFC 2104) over a purpose and nonces.
 *
 * <p>Threading: stateless.
 */
final class Proofs {
    /** The length of nonces, proofs and keys. */
    static final int BYTES = 32;

    private static final String ALGORITHM = "HmacSHA256";

    private Proofs() {}

    /** Random bytes that nobody has seen. */
    static byte[] nonce() {
        byte[] bytes = new byte[BYTES];
        new SecureRandom().nextBytes(bytes);
        return bytes;
    }

    static byte[] proof(byte[] key, String purpose, byte[]... nonces) {
        try {
            Mac mac = Mac.getInstance(ALGORITHM);
            mac.init(new SecretKeySpec(key, ALGORITHM));
            mac.update(purpose.getBytes(StandardCharsets.UTF_8));
            for (byte[] nonce : nonces) {
                mac.update(nonce);
            }
            return mac.doFinal();
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("the JDK lacks " + ALGORITHM + ", which every JDK has", e);
        }
    }
}
