package io.madeleine.session;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.HexFormat;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * What is made of a session's secret. The secret itself is never sent.
 *
 * <p>Threading: stateless.
 */
final class Secrets {
    /** The length of nonces, proofs and keys. */
    static final int BYTES = 32;

    private static final String ALGORITHM = "HmacSHA256";

    private Secrets() {}

    /** A fresh secret for a launcher's processes. */
    static String generate() {
        return HexFormat.of().formatHex(nonce());
    }

    /** Random bytes that nobody has seen. */
    static byte[] nonce() {
        byte[] bytes = new byte[BYTES];
        new SecureRandom().nextBytes(bytes);
        return bytes;
    }

    /** The key of the control connections' proofs. */
    static byte[] controlKey(String secret) {
        return derive(secret, "madeleine control 1");
    }

    /** What proves a process's membership to the peers of one session. */
    static byte[] memberKey(String secret, String sessionId) {
        return derive(secret, "madeleine member 1 " + sessionId);
    }

    /** A key for a user's own protocol. */
    static byte[] userKey(String secret, String purpose) {
        return derive(secret, "madeleine user 1 " + purpose);
    }

    private static byte[] derive(String secret, String purpose) {
        try {
            // hashed first: an HMAC key may not be empty, and a secret may
            byte[] key = MessageDigest.getInstance("SHA-256").digest(secret.getBytes(StandardCharsets.UTF_8));
            return proof(key, purpose);
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("the JDK lacks SHA-256, which every JDK has", e);
        }
    }

    /** What only an owner of the key can say about a purpose and two nonces. */
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
