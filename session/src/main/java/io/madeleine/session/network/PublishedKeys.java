package io.madeleine.session.network;

import io.madeleine.admission.Proofs;
import java.util.Base64;

/**
 * The part of a process's keys that it publishes.
 *
 * <p>Threading: immutable.
 *
 * @param publicKey its public key, X.509, in Base64
 * @param number its random number, in Base64
 */
public record PublishedKeys(String publicKey, String number) {
    private static final int MAX_LENGTH = 200;

    /** Checks lengths and encoding. */
    public PublishedKeys {
        if (publicKey.length() > MAX_LENGTH || number.length() > MAX_LENGTH) {
            throw new IllegalArgumentException("keys of " + publicKey.length() + " and " + number.length()
                    + " characters: expected at most " + MAX_LENGTH);
        }
        if (decode(publicKey).length == 0 || decode(number).length < Proofs.BYTES) {
            throw new IllegalArgumentException("a key of 0 bytes, or a random number of less than " + Proofs.BYTES);
        }
    }

    /** The bytes of a key or number. */
    public static byte[] decode(String text) {
        return Base64.getDecoder().decode(text);
    }
}
