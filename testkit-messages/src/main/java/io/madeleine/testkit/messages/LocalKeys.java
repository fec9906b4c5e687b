package io.madeleine.testkit.messages;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.security.Signature;
import java.util.ArrayList;
import java.util.List;

/**
 * The keys of one rank of {@link LocalSessions}, with the algorithms that {@link io.madeleine.api.Session} specifies.
 *
 * <p>Threading: immutable.
 */
final class LocalKeys {
    private static final String ALGORITHM = "Ed25519";

    private final List<KeyPair> pairs;
    private final int rank;
    private final byte[] sessionKey;

    private LocalKeys(List<KeyPair> pairs, int rank, byte[] sessionKey) {
        this.pairs = pairs;
        this.rank = rank;
        this.sessionKey = sessionKey;
    }

    /** Generates the keys of all ranks of a session. */
    static List<LocalKeys> generate(int size) {
        try {
            List<KeyPair> pairs = new ArrayList<>();
            List<LocalKeys> keys = new ArrayList<>();
            byte[] sessionKey = new byte[32];
            new SecureRandom().nextBytes(sessionKey);
            for (int rank = 0; rank < size; rank++) {
                pairs.add(KeyPairGenerator.getInstance(ALGORITHM).generateKeyPair());
                keys.add(new LocalKeys(pairs, rank, sessionKey));
            }
            return keys;
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    byte[] publicKey(int of) {
        return pairs.get(of).getPublic().getEncoded();
    }

    byte[] sign(String purpose, byte[] message) {
        try {
            byte[] name = purpose.getBytes(StandardCharsets.UTF_8);
            Signature signature = Signature.getInstance(ALGORITHM);
            signature.initSign(pairs.get(rank).getPrivate());
            signature.update(
                    ByteBuffer.allocate(Integer.BYTES).putInt(name.length).array());
            signature.update(name);
            signature.update(message);
            return signature.sign();
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    byte[] deriveSessionKey(String purpose) {
        try {
            MessageDigest digest = MessageDigest.getInstance("SHA-256");
            digest.update(sessionKey);
            return digest.digest(purpose.getBytes(StandardCharsets.UTF_8));
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }
}
