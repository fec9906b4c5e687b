package io.madeleine.tm.via.remote;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.Optional;

/**
 * A message between the owner of an export and one that attaches it. Its kinds are those of {@link
 * io.madeleine.tm.via.port.MessageFlyweight}. Its payload is the place, the {@linkplain MessageProofs proof} that a
 * process of the session has written it, and the sender's address.
 *
 * <p>Threading: immutable.
 *
 * @param kind the kind
 * @param key the key of the export
 * @param number the number of the attachment, which its holder has chosen
 * @param place the exported memory; all zero unless the kind is ATTACHED
 * @param address the sender's address
 */
record RemoteMessage(int kind, long key, long number, Place place, String address) {
    private static final int PROOF_AT = 32;
    private static final int ADDRESS_AT = PROOF_AT + MessageProofs.BYTES;

    /**
     * Exported memory.
     *
     * @param base the address of its first byte, as the provider counts addresses
     * @param rights the key of its registration
     * @param bytes its length
     * @param flags 1 if it may be written; the lowest bits of its own address, times 2
     */
    record Place(long base, long rights, long bytes, long flags) {
        static final Place NONE = new Place(0, 0, 0, 0);

        /** In a WITHDRAW: the owner's adapter is being closed. */
        static final Place CLOSING = new Place(0, 0, 0, 1);

        boolean isWritable() {
            return (flags & 1) != 0;
        }

        /** Whether a word of this width at this offset is aligned in the owner's memory. */
        boolean isAligned(long at, int width) {
            return ((flags >>> 1) + at) % width == 0;
        }
    }

    byte[] payload(MessageProofs proofs) {
        byte[] text = address.getBytes(StandardCharsets.US_ASCII);
        byte[] made = ByteBuffer.allocate(ADDRESS_AT + text.length)
                .putLong(place.base)
                .putLong(place.rights)
                .putLong(place.bytes)
                .putLong(place.flags)
                .put(new byte[MessageProofs.BYTES])
                .put(text)
                .array();
        byte[] proof = proofs.of(kind, key, number, made, PROOF_AT, ADDRESS_AT);
        System.arraycopy(proof, 0, made, PROOF_AT, proof.length);
        return made;
    }

    /** Reads a message; empty if it is too short, or no process of the session has written it. */
    static Optional<RemoteMessage> read(MessageProofs proofs, int kind, long key, long number, byte[] payload) {
        if (payload.length < ADDRESS_AT) {
            return Optional.empty();
        }
        byte[] proof = Arrays.copyOfRange(payload, PROOF_AT, ADDRESS_AT);
        if (!MessageDigest.isEqual(proof, proofs.of(kind, key, number, payload, PROOF_AT, ADDRESS_AT))) {
            return Optional.empty();
        }
        ByteBuffer buffer = ByteBuffer.wrap(payload);
        Place place = new Place(buffer.getLong(), buffer.getLong(), buffer.getLong(), buffer.getLong());
        String address = new String(payload, ADDRESS_AT, payload.length - ADDRESS_AT, StandardCharsets.US_ASCII);
        return place.bytes < 0 ? Optional.empty() : Optional.of(new RemoteMessage(kind, key, number, place, address));
    }
}
