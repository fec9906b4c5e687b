package io.madeleine.bmm;

import io.madeleine.pmm.spi.PacketHeader;

/**
 * Numbers the packets that one direction of a connection sends over all its links.
 *
 * <p>Threading: confined to the owner of the message.
 */
public final class SendLedger {
    private int sequence;
    private int index;

    /** Starts with message 0. */
    public SendLedger() {}

    /** Returns the header of the message's next packet; sets FIRST in the first one. */
    long next(long payloadBytes, int flags) {
        int first = index == 0 ? PacketHeader.FIRST : 0;
        return PacketHeader.of((int) payloadBytes, sequence, index++, flags | first);
    }

    /**
     * Returns the header of a message of one packet, of which nothing has been sent; {@link #nextMessage} follows when
     * it has.
     */
    long headerOfWhole(int payloadBytes) {
        return PacketHeader.of(payloadBytes, sequence, 0, PacketHeader.FIRST | PacketHeader.LAST);
    }

    /** Whether the message has sent no packet yet. */
    public boolean isUntouched() {
        return index == 0;
    }

    /** Starts the next message. */
    public void nextMessage() {
        sequence++;
        index = 0;
    }
}
