package io.madeleine.tm.via.remote;

import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Optional;

/**
 * A message between the owner of an export and one that attaches it. Its kinds are those of
 * {@link io.madeleine.tm.via.port.MessageFlyweight}; only those who know the export's key can write one.
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
    /** The size of the part before the address. */
    static final int FIXED_BYTES = 32;

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

    byte[] payload() {
        byte[] text = address.getBytes(StandardCharsets.US_ASCII);
        return ByteBuffer.allocate(FIXED_BYTES + text.length)
                .putLong(place.base)
                .putLong(place.rights)
                .putLong(place.bytes)
                .putLong(place.flags)
                .put(text)
                .array();
    }

    /** Reads a message; empty if it is too short. */
    static Optional<RemoteMessage> read(int kind, long key, long number, byte[] payload) {
        try {
            ByteBuffer buffer = ByteBuffer.wrap(payload);
            Place place = new Place(buffer.getLong(), buffer.getLong(), buffer.getLong(), buffer.getLong());
            String address = new String(payload, FIXED_BYTES, payload.length - FIXED_BYTES, StandardCharsets.US_ASCII);
            return place.bytes < 0
                    ? Optional.empty()
                    : Optional.of(new RemoteMessage(kind, key, number, place, address));
        } catch (BufferUnderflowException _) {
            return Optional.empty();
        }
    }
}
