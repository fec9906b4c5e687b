package io.madeleine.tm.bip.protocol;

import java.nio.ByteBuffer;
import java.security.GeneralSecurityException;
import javax.crypto.AEADBadTagException;
import javax.crypto.Cipher;
import org.jspecify.annotations.Nullable;

/**
 * Encrypts and authenticates the datagrams of one connection with AES-128-GCM, as QUIC does (RFC 9001, sections 5.3 and
 * 6). The header is authenticated and stays readable. Each direction takes a new key after a fixed number of datagrams.
 *
 * <p>Threading: confined. A datagram costs no more memory than what {@link Cipher} allocates.
 */
public final class Protection {
    /** The length of the secret of one direction. */
    public static final int SECRET_BYTES = DatagramKey.SECRET_BYTES;

    /** So many datagrams are sealed with one key; GCM would permit 2^23 of the longest (RFC 9001, section 6.6). */
    static final int UPDATE_AFTER = 1 << 20;

    private final byte[] header = new byte[DatagramLayout.HEADER_BYTES];
    private final Cipher sealer = newCipher();
    private final Cipher opener = newCipher();
    private final int updateAfter;
    private DatagramKey sending;
    private long sendingFrom; // the first packet number of that key
    private @Nullable DatagramKey former;
    private DatagramKey receiving;
    private long receivingFrom = Long.MAX_VALUE; // the lowest number that came with that key
    private DatagramKey next;

    /**
     * The protection of a connection with new keys.
     *
     * @param sendingSecret a secret of this connection and this direction alone, known to both ends
     * @param receivingSecret the same of the other direction
     */
    public Protection(byte[] sendingSecret, byte[] receivingSecret) {
        this(sendingSecret, receivingSecret, UPDATE_AFTER);
    }

    Protection(byte[] sendingSecret, byte[] receivingSecret, int updateAfter) {
        this.updateAfter = updateAfter;
        this.sending = new DatagramKey(0, sendingSecret.clone());
        this.receiving = new DatagramKey(0, receivingSecret.clone());
        this.next = receiving.next();
    }

    private static Cipher newCipher() {
        try {
            return Cipher.getInstance("AES/GCM/NoPadding");
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("every JDK has AES/GCM/NoPadding", e);
        }
    }

    /**
     * Encrypts the frames in front of the position, and puts the tag behind them.
     *
     * @param largestAcked the largest packet number that the peer has acknowledged; it has the key of that number
     */
    void seal(Datagram datagram, long largestAcked) {
        long number = datagram.number();
        if (number - sendingFrom >= updateAfter && largestAcked >= sendingFrom) {
            sending = sending.next();
            sendingFrom = number;
        }
        ByteBuffer bytes = datagram.bytes();
        int length = bytes.position() - DatagramLayout.HEADER_BYTES;
        bytes.putInt(DatagramLayout.KEY_OFFSET, sending.generation);
        bytes.get(0, header);
        byte[] plain = datagram.plain();
        byte[] sealed = datagram.sealed();
        bytes.get(DatagramLayout.HEADER_BYTES, plain, 0, length);
        try {
            sealer.init(Cipher.ENCRYPT_MODE, sending.key, sending.nonce(number));
            sealer.updateAAD(header);
            int written = sealer.doFinal(plain, 0, length, sealed, 0);
            bytes.limit(DatagramLayout.HEADER_BYTES + written);
            bytes.put(DatagramLayout.HEADER_BYTES, sealed, 0, written);
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("a datagram of " + length + " bytes cannot be encrypted", e);
        }
    }

    /**
     * Decrypts the frames of a datagram in place and cuts the tag off; returns false if the peer did not seal it so.
     */
    boolean open(Datagram datagram) {
        long number = datagram.number();
        DatagramKey key = keyOf(datagram.bytes().getInt(DatagramLayout.KEY_OFFSET), number);
        if (key == null || !decrypt(datagram, key, number)) {
            return false;
        }
        if (key == next) {
            former = receiving;
            receiving = next;
            receivingFrom = number;
            next = receiving.next();
        } else if (key == receiving) {
            receivingFrom = Math.min(receivingFrom, number);
        }
        return true;
    }

    /** A former key serves only for datagrams that were sent before the first one with the present key. */
    private @Nullable DatagramKey keyOf(int generation, long number) {
        if (generation == receiving.generation) {
            return receiving;
        }
        if (generation == next.generation) {
            return next;
        }
        DatagramKey old = former;
        return old != null && generation == old.generation && number < receivingFrom ? old : null;
    }

    private boolean decrypt(Datagram datagram, DatagramKey key, long number) {
        ByteBuffer bytes = datagram.bytes();
        int length = bytes.limit() - DatagramLayout.HEADER_BYTES;
        byte[] plain = datagram.plain();
        byte[] sealed = datagram.sealed();
        bytes.get(0, header);
        bytes.get(DatagramLayout.HEADER_BYTES, sealed, 0, length);
        try {
            opener.init(Cipher.DECRYPT_MODE, key.key, key.nonce(number));
            opener.updateAAD(header);
            int read = opener.doFinal(sealed, 0, length, plain, 0);
            bytes.put(DatagramLayout.HEADER_BYTES, plain, 0, read);
            bytes.limit(DatagramLayout.HEADER_BYTES + read);
            return true;
        } catch (AEADBadTagException _) {
            return false;
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("a datagram of " + length + " bytes cannot be decrypted", e);
        }
    }

    /** How often the keys for sending and for receiving have changed, for tests. */
    int updateCount() {
        return sending.generation + receiving.generation;
    }
}
