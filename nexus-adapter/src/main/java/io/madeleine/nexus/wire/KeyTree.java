package io.madeleine.nexus.wire;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.Signature;
import java.security.spec.X509EncodedKeySpec;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;

/**
 * The public keys of a session's processes as a hash tree (SHA-256). The root is part of the session's name, so a
 * process can prove its rank to other sessions with a signature and the sibling hashes on its path to the root.
 *
 * <p>Threading: immutable.
 */
public final class KeyTree {
    private static final String ALGORITHM = "Ed25519";
    private static final int HASH_BYTES = 32;
    private static final byte LEAF = 0;
    private static final byte NODE = 1;
    private static final byte ROOT = 2;

    private final List<List<byte[]>> levels = new ArrayList<>();

    /** Builds the tree of the keys, which are in the order of ranks. */
    public KeyTree(List<byte[]> keys) {
        List<byte[]> level = keys.stream().map(key -> hash(LEAF, key)).toList();
        levels.add(level);
        while (level.size() > 1) {
            List<byte[]> above = new ArrayList<>();
            for (int i = 0; i < level.size(); i += 2) {
                above.add(i + 1 < level.size() ? hash(NODE, level.get(i), level.get(i + 1)) : level.get(i));
            }
            levels.add(above);
            level = above;
        }
    }

    /**
     * The name of the session: its id and the root. Other processes cannot prove a rank in it, because the root fixes
     * the keys.
     */
    public String nameOf(String sessionId) {
        return name(sessionId, levels.getFirst().size(), levels.getLast().getFirst());
    }

    private static String name(String sessionId, int size, byte[] top) {
        byte[] root = hash(ROOT, ByteBuffer.allocate(Integer.BYTES).putInt(size).array(), top);
        return sessionId + "." + Base64.getUrlEncoder().withoutPadding().encodeToString(root);
    }

    /** The sibling hashes on the path from a rank to the root. */
    public byte[] path(int rank) {
        ByteArrayOutputStream path = new ByteArrayOutputStream();
        int place = rank;
        for (List<byte[]> level : levels) {
            if ((place ^ 1) < level.size()) {
                path.writeBytes(level.get(place ^ 1));
            }
            place >>= 1;
        }
        return path.toByteArray();
    }

    /** Whether the session with this name and size has this key at this rank. */
    public static boolean has(String name, int size, int rank, byte[] key, byte[] path) {
        int dot = name.lastIndexOf('.');
        if (dot < 0 || size < 1 || rank < 0 || rank >= size) {
            return false;
        }
        byte[] hash = hash(LEAF, key);
        int place = rank;
        int used = 0;
        for (int width = size; width > 1; width = (width + 1) / 2) {
            if ((place ^ 1) < width) {
                if (used + HASH_BYTES > path.length) {
                    return false;
                }
                byte[] beside = Arrays.copyOfRange(path, used, used + HASH_BYTES);
                hash = (place & 1) == 0 ? hash(NODE, hash, beside) : hash(NODE, beside, hash);
                used += HASH_BYTES;
            }
            place >>= 1;
        }
        return used == path.length && name.equals(name(name.substring(0, dot), size, hash));
    }

    /** Whether the owner of a key has signed a message for a purpose; see {@link io.madeleine.api.Session#sign}. */
    public static boolean isSigned(byte[] key, String purpose, byte[] message, byte[] signed) {
        try {
            byte[] name = purpose.getBytes(java.nio.charset.StandardCharsets.UTF_8);
            Signature signature = Signature.getInstance(ALGORITHM);
            signature.initVerify(KeyFactory.getInstance(ALGORITHM).generatePublic(new X509EncodedKeySpec(key)));
            signature.update(
                    ByteBuffer.allocate(Integer.BYTES).putInt(name.length).array());
            signature.update(name);
            signature.update(message);
            return signature.verify(signed);
        } catch (NoSuchAlgorithmException e) {
            throw lacks(e);
        } catch (GeneralSecurityException e) {
            return false;
        }
    }

    private static byte[] hash(byte kind, byte[]... parts) {
        try {
            MessageDigest digest = MessageDigest.getInstance("SHA-256");
            digest.update(kind);
            for (byte[] part : parts) {
                digest.update(part);
            }
            return digest.digest();
        } catch (NoSuchAlgorithmException e) {
            throw lacks(e);
        }
    }

    private static IllegalStateException lacks(NoSuchAlgorithmException e) {
        return new IllegalStateException("the JDK lacks an algorithm that every JDK must have: " + e.getMessage(), e);
    }
}
