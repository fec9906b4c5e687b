package io.madeleine.session;

import io.madeleine.admission.Proofs;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.Map;
import javax.crypto.SecretKeyFactory;
import javax.crypto.spec.PBEKeySpec;

/**
 * What is made of a session's secret. The secret itself is never sent. One that can be guessed is stretched first: each
 * trial costs a quarter of a second.
 *
 * <p>Threading: thread-safe.
 */
final class Secrets {
    /** As OWASP recommends for passwords (2023): a quarter of a second. */
    private static final int ROUNDS = 600_000;

    /** All processes have to come to the same key, and know nothing but the secret yet. */
    private static final byte[] SALT = "madeleine secret 1".getBytes(StandardCharsets.US_ASCII);

    private static final int REMEMBERED = 16;
    private static final Logger LOGGER = System.getLogger(Secrets.class.getName());

    /** Weak secrets used last, with the keys that took so long. */
    private static final Map<String, byte[]> STRETCHED = new LinkedHashMap<>() {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, byte[]> eldest) {
            return size() > REMEMBERED;
        }
    };

    private Secrets() {}

    /** A fresh secret for a launcher's processes. */
    static String generate() {
        return HexFormat.of().formatHex(Proofs.nonce());
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
        return Proofs.proof(root(secret), purpose);
    }

    /** The key that all others are made of: hashed, since an HMAC key may not be empty and a secret may. */
    private static synchronized byte[] root(String secret) {
        byte[] known = STRETCHED.get(secret);
        if (known != null) {
            return known;
        }
        try {
            if (secret.isEmpty() || SecretStrength.bits(secret) >= SecretStrength.ENOUGH_BITS) {
                return MessageDigest.getInstance("SHA-256").digest(secret.getBytes(StandardCharsets.UTF_8));
            }
            LOGGER.log(
                    Level.WARNING,
                    "madeleine.session.secret can be guessed: it has some {0} bits, expected {1} or more. It is stretched,"
                            + " which makes guessing slower, not impossible; \"mad secret FILE\" makes a good one.",
                    SecretStrength.bits(secret),
                    SecretStrength.ENOUGH_BITS);
            byte[] stretched = stretch(secret);
            STRETCHED.put(secret, stretched);
            return stretched;
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("the JDK lacks what every JDK has: " + e.getMessage(), e);
        }
    }

    private static byte[] stretch(String secret) throws GeneralSecurityException {
        PBEKeySpec slow = new PBEKeySpec(secret.toCharArray(), SALT, ROUNDS, 8 * Proofs.BYTES);
        return SecretKeyFactory.getInstance("PBKDF2WithHmacSHA256")
                .generateSecret(slow)
                .getEncoded();
    }
}
