package io.madeleine.admission;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * Proofs that only an owner of the key can make: HMAC-SHA256 (RFC 2104) over a purpose and its parts, such as nonces.
 *
 * <p>Threading: stateless.
 */
public final class Proofs {
    /** The length of nonces, proofs and keys in bytes. */
    public static final int BYTES = 32;

    private static final String ALGORITHM = "HmacSHA256";
    private static final SecureRandom RANDOM = new SecureRandom();

    private Proofs() {}

    /** Makes a nonce: unpredictable random bytes. */
    public static byte[] nonce() {
        byte[] bytes = new byte[BYTES];
        RANDOM.nextBytes(bytes);
        return bytes;
    }

    /** Makes the proof of these parts for this purpose. */
    public static byte[] proof(byte[] key, String purpose, byte[]... parts) {
        try {
            Mac mac = Mac.getInstance(ALGORITHM);
            mac.init(new SecretKeySpec(key, ALGORITHM));
            mac.update(purpose.getBytes(StandardCharsets.UTF_8));
            for (byte[] part : parts) {
                mac.update(part);
            }
            return mac.doFinal();
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("the JDK lacks " + ALGORITHM + ", which every JDK has", e);
        }
    }
}
