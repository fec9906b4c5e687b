package io.madeleine.tm.sci.files;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/**
 * Short digests for names and for proofs of membership.
 *
 * <p>Threading: stateless.
 */
public final class Digests {
    private Digests() {}

    /** A 64-bit digest of a name. */
    public static long hash(String text) {
        return sha256(text.getBytes(UTF_8), new byte[0]);
    }

    /**
     * A proof of membership that only processes of the session can compute. It protects against mistakes; the
     * directory's mode protects against other users.
     */
    public static long proof(String sessionId, byte[] secret) {
        return sha256(("madeleine sci " + sessionId).getBytes(UTF_8), secret);
    }

    private static long sha256(byte[] first, byte[] second) {
        try {
            MessageDigest digest = MessageDigest.getInstance("SHA-256");
            digest.update(first);
            return ByteBuffer.wrap(digest.digest(second)).getLong();
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java platform has SHA-256", e);
        }
    }
}
