package io.madeleine.bmm;

import io.madeleine.pmm.spi.PacketHeader;

/**
 * Numbers the packets that one direction of a connection sends, over all its links.
 *
 * <p>Threading: confined to whoever packs.
 */
public final class SendLedger {
    private int sequence;
    private int index;

    /** Begins with message 0. */
    public SendLedger() {}

    /** The header of the message's next packet; the first one is marked so. */
    long next(long payloadBytes, int flags) {
        int first = index == 0 ? PacketHeader.FIRST : 0;
        return PacketHeader.of((int) payloadBytes, sequence, index++, flags | first);
    }

    /** The header of a message that is one packet, of which nothing has been sent; {@link #nextMessage} follows when it has. */
    long headerOfWhole(int payloadBytes) {
        return PacketHeader.of(payloadBytes, sequence, 0, PacketHeader.FIRST | PacketHeader.LAST);
    }

    /** Whether the message has sent no packet yet. */
    public boolean isUntouched() {
        return index == 0;
    }

    /** Turns to the next message. */
    public void nextMessage() {
        sequence++;
        index = 0;
    }
}
