package io.madeleine.nexus.wan;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * What only an owner of the key can say: HMAC-SHA256 (RFC 2104) over a purpose and what it is about.
 *
 * <p>Threading: stateless.
 */
final class Proofs {
    /** The length of proofs and keys. */
    static final int BYTES = 32;

    private static final String ALGORITHM = "HmacSHA256";

    private Proofs() {}

    static byte[] proof(byte[] key, String purpose, byte[]... parts) {
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
