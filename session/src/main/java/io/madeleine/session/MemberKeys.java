package io.madeleine.session;

import io.madeleine.admission.Proofs;
import io.madeleine.session.network.ProcessDescription;
import io.madeleine.session.network.PublishedKeys;
import java.nio.ByteBuffer;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.MessageDigest;
import java.security.PrivateKey;
import java.security.Signature;
import java.util.Base64;
import java.util.List;

/**
 * The keys of one process in a session: its key pair (Ed25519), the public keys of all processes, and a key that only
 * the session's processes know. Each process generates a key pair and a random number when it opens the session, and
 * publishes the public key and the number in its {@link ProcessDescription}. The session key is the SHA-256 digest of
 * all these numbers, in rank order.
 *
 * <p>Threading: immutable.
 */
public final class MemberKeys {
    /** The algorithm of the key pairs. */
    public static final String ALGORITHM = "Ed25519";

    private final PrivateKey privateKey;
    private final List<Part> parts;
    private final byte[] sessionKey;

    /**
     * The part that a process publishes.
     *
     * @param publicKey its public key, X.509, in Base64
     * @param number its random number, in Base64
     */
    public record Part(String publicKey, String number) {
        /** Checks lengths and encoding. */
        public Part {
            var _ = new PublishedKeys(publicKey, number);
        }

        Part(PublishedKeys keys) {
            this(keys.publicKey(), keys.number());
        }

        PublishedKeys published() {
            return new PublishedKeys(publicKey, number);
        }
    }

    /** A process's own keys, before it knows the parts of the others. */
    public static final class Own {
        private final PrivateKey privateKey;
        private final Part part;

        private Own(KeyPair pair) {
            this.privateKey = pair.getPrivate();
            this.part = new Part(
                    Base64.getEncoder().encodeToString(pair.getPublic().getEncoded()),
                    Base64.getEncoder().encodeToString(Proofs.nonce()));
        }

        /** The part to publish. */
        public Part part() {
            return part;
        }

        /** Combines these keys with the parts that all processes published, by rank. */
        public MemberKeys among(List<Part> parts) {
            return new MemberKeys(privateKey, parts);
        }
    }

    private MemberKeys(PrivateKey privateKey, List<Part> parts) {
        this.privateKey = privateKey;
        this.parts = List.copyOf(parts);
        try {
            MessageDigest digest = MessageDigest.getInstance("SHA-256");
            parts.forEach(part -> digest.update(PublishedKeys.decode(part.number())));
            this.sessionKey = digest.digest();
        } catch (GeneralSecurityException e) {
            throw lacks("SHA-256", e);
        }
    }

    /** Generates a key pair and a random number. */
    public static Own generate() {
        try {
            return new Own(KeyPairGenerator.getInstance(ALGORITHM).generateKeyPair());
        } catch (GeneralSecurityException e) {
            throw lacks(ALGORITHM, e);
        }
    }

    /** See {@link io.madeleine.api.Session#publicKey}. */
    public byte[] publicKey(int rank) {
        return PublishedKeys.decode(parts.get(rank).publicKey());
    }

    /** See {@link io.madeleine.api.Session#sign}. */
    public byte[] sign(String purpose, byte[] message) {
        try {
            Signature signature = Signature.getInstance(ALGORITHM);
            signature.initSign(privateKey);
            signature.update(signed(purpose, message));
            return signature.sign();
        } catch (GeneralSecurityException e) {
            throw lacks(ALGORITHM, e);
        }
    }

    /**
     * The bytes to sign. They begin with the length of the purpose, so a signature for one purpose is invalid for
     * another.
     */
    private static byte[] signed(String purpose, byte[] message) {
        byte[] name = purpose.getBytes(java.nio.charset.StandardCharsets.UTF_8);
        return ByteBuffer.allocate(Integer.BYTES + name.length + message.length)
                .putInt(name.length)
                .put(name)
                .put(message)
                .array();
    }

    /** See {@link io.madeleine.api.Session#deriveSessionKey}. */
    public byte[] deriveSessionKey(String purpose) {
        return Proofs.proof(sessionKey, "madeleine session 1 " + purpose);
    }

    private static IllegalStateException lacks(String algorithm, GeneralSecurityException e) {
        return new IllegalStateException("this JDK lacks the required algorithm " + algorithm, e);
    }
}
