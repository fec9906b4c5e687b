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

    /** How far a packet may be behind the count of those entered, at most, when it comes up on a link. */
    private static final int BEHIND = 1024;

    private int sequence;
    private int packetCount;
    private int furthestIndex = UNKNOWN;
    private int foundCount;
    private int lastIndex = UNKNOWN;
    private boolean aborted;

    /** Begins with message 0. */
    public ReceiveLedger() {}

    /** Whether a header belongs to the message being received. */
    public boolean isOfThisMessage(long header) {
        return PacketHeader.isCount(PacketHeader.sequence(header), sequence) && !isEnded();
    }

    /** Whether a header is that of the first packet of the message being received, of which nothing has been entered. */
    public boolean isFirst(long header) {
        return packetCount == 0
                && isOfThisMessage(header)
                && PacketHeader.has(header, PacketHeader.FIRST)
                && PacketHeader.isCount(PacketHeader.index(header), 0);
    }

    /** The header of the message to be received, of which nothing has been entered, if it is one packet with that much payload. */
    long headerOfWhole(int payloadBytes) {
        return PacketHeader.of(payloadBytes, sequence, 0, PacketHeader.FIRST | PacketHeader.LAST);
    }

    /** Whether all packets before that one have been entered. */
    boolean isNext(int index) {
        return index == packetCount;
    }

    /** A packet of the message has come up on a link; returns its full index, of which the header has the low bits. */
    int find(long header) {
        foundCount++;
        int base = packetCount - BEHIND;
        return base + PacketHeader.countsBetween(base, PacketHeader.index(header));
    }

    /** How many packets have come up so far, of all messages; wraps around. */
    public int foundCount() {
        return foundCount;
    }

    /**
     * Whether payload of that packet, for which nobody has asked, ought to have been asked for before what is awaited: all
     * packets before it have been entered, or one behind it has.
     */
    boolean isOverdue(int index) {
        return packetCount >= index || furthestIndex > index;
    }

    /** Enters a packet whose payload has been dealt with. Packets of different links may come in any order. */
    void enter(long header, int index) {
        packetCount++;
        furthestIndex = Math.max(furthestIndex, index);
        if (PacketHeader.has(header, PacketHeader.LAST)) {
            lastIndex = index;
            aborted = PacketHeader.has(header, PacketHeader.ABORT);
        }
    }

    /** Whether the message's last packet and all before it have been entered. */
    public boolean isEnded() {
        return lastIndex != UNKNOWN && lastIndex == packetCount - 1;
    }

    /** Whether the sender gave the message up. */
    public boolean isAborted() {
        return aborted;
    }

    /** Turns to the next message. */
    public void nextMessage() {
        sequence++;
        packetCount = 0;
        furthestIndex = UNKNOWN;
        lastIndex = UNKNOWN;
        aborted = false;
    }
}
