package io.madeleine.bmm;

import io.madeleine.pmm.spi.PacketHeader;

/**
 * Keeps the account of the packets that one direction of a connection receives, over all its links: what decides where
 * a message ends and whether all of it was there.
 *
 * <p>Threading: guarded by the connection's receive lock.
 */
public final class ReceiveLedger {
    private static final int UNKNOWN = -1;

    private int sequence;
    private int packetCount;
    private int lastIndex = UNKNOWN;
    private boolean aborted;

    /** Begins with message 0. */
    public ReceiveLedger() {}

    /** Whether a header belongs to the message being received. */
    public boolean isOfThisMessage(long header) {
        return PacketHeader.isCount(PacketHeader.sequence(header), sequence) && !isEnded();
    }

    /** Whether a header is the very next one of the message being received. */
    public boolean isNext(long header) {
        return isOfThisMessage(header) && PacketHeader.isCount(PacketHeader.index(header), packetCount);
    }

    /** Enters a packet whose payload has been dealt with. Packets of different links may come in any order. */
    public void enter(long header) {
        packetCount++;
        if (PacketHeader.has(header, PacketHeader.LAST)) {
            lastIndex = PacketHeader.index(header);
            aborted = PacketHeader.has(header, PacketHeader.ABORT);
        }
    }

    /** Whether the message's last packet and all before it have been entered. */
    public boolean isEnded() {
        return lastIndex != UNKNOWN && PacketHeader.isCount(lastIndex, packetCount - 1);
    }

    /** Whether the sender gave the message up. */
    public boolean isAborted() {
        return aborted;
    }

    /** Turns to the next message. */
    public void nextMessage() {
        sequence++;
        packetCount = 0;
        lastIndex = UNKNOWN;
        aborted = false;
    }
}
