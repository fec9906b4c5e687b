package io.madeleine.session.bootstrap;

import io.madeleine.admission.Proofs;
import io.madeleine.session.config.SecretStrength;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.Map;
import javax.crypto.SecretKeyFactory;
import javax.crypto.spec.PBEKeySpec;

/**
 * Derives keys from a session's secret. The secret itself is never sent. A weak secret is stretched first, so that each
 * guess costs about 0.25 s.
 *
 * <p>Threading: thread-safe.
 */
public final class Secrets {
    /** The iterations that OWASP recommends for passwords (2023). */
    private static final int ROUNDS = 600_000;

    /** A constant, since all processes must derive the same key and share nothing but the secret at this point. */
    private static final byte[] SALT = "madeleine secret 1".getBytes(StandardCharsets.US_ASCII);

    private static final int REMEMBERED = 16;

    /** The stretched keys of the last few weak secrets, because stretching takes long. */
    private static final Map<String, byte[]> STRETCHED = new LinkedHashMap<>() {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, byte[]> eldest) {
            return size() > REMEMBERED;
        }
    };

    private Secrets() {}

    /** Generates a secret. */
    public static String generate() {
        return HexFormat.of().formatHex(Proofs.nonce());
    }

    /** The key of the proofs on control connections. */
    static byte[] controlKey(String secret) {
        return derive(secret, "madeleine control 1");
    }

    /** The key with which a process proves to its peers that it belongs to this session. */
    public static byte[] memberKey(String secret, String sessionId) {
        return derive(secret, "madeleine member 1 " + sessionId);
    }

    /** A key for the user's own protocols. */
    public static byte[] userKey(String secret, String purpose) {
        return derive(secret, "madeleine user 1 " + purpose);
    }

    private static byte[] derive(String secret, String purpose) {
        return Proofs.proof(root(secret), purpose);
    }

    /** The key from which all others are derived. Hashed, because an HMAC key must not be empty and a secret may be. */
    private static synchronized byte[] root(String secret) {
        byte[] known = STRETCHED.get(secret);
        if (known != null) {
            return known;
        }
        try {
            if (secret.isEmpty() || SecretStrength.bits(secret) >= SecretStrength.ENOUGH_BITS) {
                return MessageDigest.getInstance("SHA-256").digest(secret.getBytes(StandardCharsets.UTF_8));
            }
            byte[] stretched = stretch(secret);
            STRETCHED.put(secret, stretched);
            return stretched;
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("this JDK lacks a required algorithm: " + e.getMessage(), e);
        }
    }

    private static byte[] stretch(String secret) throws GeneralSecurityException {
        PBEKeySpec slow = new PBEKeySpec(secret.toCharArray(), SALT, ROUNDS, 8 * Proofs.BYTES);
        return SecretKeyFactory.getInstance("PBKDF2WithHmacSHA256")
                .generateSecret(slow)
                .getEncoded();
    }
}
