package io.madeleine.tm.bip.protocol;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import javax.crypto.KDF;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.HKDFParameterSpec;
import javax.crypto.spec.SecretKeySpec;

/**
 * The key and the initialization vector of one direction, and the secret from which they and the next key are derived,
 * as in RFC 9001, sections 5.1 and 6.1.
 *
 * <p>Threading: confined.
 */
final class DatagramKey {
    static final int SECRET_BYTES = 32;
    private static final int KEY_BYTES = 16;
    private static final int IV_BYTES = 12;
    private static final int TAG_BITS = 8 * DatagramLayout.TAG_BYTES;

    final int generation;
    final SecretKeySpec key;
    private final byte[] secret;
    private final byte[] iv;
    private final byte[] nonce = new byte[IV_BYTES];

    DatagramKey(int generation, byte[] secret) {
        this.generation = generation;
        this.secret = secret;
        this.key = new SecretKeySpec(expand(secret, "bip key", KEY_BYTES), "AES");
        this.iv = expand(secret, "bip iv", IV_BYTES);
    }

    DatagramKey next() {
        return new DatagramKey(generation + 1, expand(secret, "bip ku", SECRET_BYTES));
    }

    /** The nonce of a datagram: the initialization vector, exclusive or the packet number (RFC 9001, section 5.3). */
    GCMParameterSpec nonce(long number) {
        System.arraycopy(iv, 0, nonce, 0, IV_BYTES);
        for (int i = 0; i < Long.BYTES; i++) {
            nonce[IV_BYTES - 1 - i] ^= (byte) (number >>> 8 * i);
        }
        return new GCMParameterSpec(TAG_BITS, nonce);
    }

    /** HKDF-Expand-Label of RFC 8446, section 7.1, with SHA-256 and without a context. */
    private static byte[] expand(byte[] secret, String name, int bytes) {
        byte[] label = ("tls13 " + name).getBytes(StandardCharsets.US_ASCII);
        byte[] info = ByteBuffer.allocate(Short.BYTES + 1 + label.length + 1)
                .putShort((short) bytes)
                .put((byte) label.length)
                .put(label)
                .put((byte) 0)
                .array();
        try {
            return KDF.getInstance("HKDF-SHA256")
                    .deriveData(HKDFParameterSpec.expandOnly(new SecretKeySpec(secret, "Generic"), info, bytes));
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("every JDK from 25 on has HKDF-SHA256", e);
        }
    }
}
