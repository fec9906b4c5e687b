package io.madeleine.bmm;

import io.madeleine.pmm.spi.PacketHeader;

/**
 * Counts the packets that one direction of a connection receives over all its links. The counts decide where a message
 * ends and whether all of it has arrived.
 *
 * <p>Threading: guarded by the connection's receive lock.
 */
public final class ReceiveLedger {
    private static final int UNKNOWN = -1;

    /** The most by which the index of a packet that comes up on a link may be below the number of entered packets. */
    private static final int BEHIND = 1024;

    private int sequence;
    private int packetCount;
    private int furthestIndex = UNKNOWN;
    private int foundCount;
    private int lastIndex = UNKNOWN;
    private boolean aborted;

    /** Starts with message 0. */
    public ReceiveLedger() {}

    /** Whether the header belongs to the current message. */
    public boolean isOfThisMessage(long header) {
        return PacketHeader.isCount(PacketHeader.sequence(header), sequence) && !isEnded();
    }

    /** Whether the header is that of the current message's first packet, and no packet has been entered. */
    public boolean isFirst(long header) {
        return packetCount == 0
                && isOfThisMessage(header)
                && PacketHeader.has(header, PacketHeader.FIRST)
                && PacketHeader.isCount(PacketHeader.index(header), 0);
    }

    /** Returns the header of the current message if it is one packet with this payload; no packet has been entered. */
    long headerOfWhole(int payloadBytes) {
        return PacketHeader.of(payloadBytes, sequence, 0, PacketHeader.FIRST | PacketHeader.LAST);
    }

    /** Whether all packets before this one have been entered. */
    boolean isNext(int index) {
        return index == packetCount;
    }

    /**
     * Counts a packet of the message that has come up on a link.
     *
     * @return its full index, of which the header has the low bits
     */
    int find(long header) {
        foundCount++;
        int base = packetCount - BEHIND;
        return base + PacketHeader.countsBetween(base, PacketHeader.index(header));
    }

    /**
     * The number of packets that have come up so far, over all messages; without whole messages taken in one step.
     * Wraps around.
     */
    public int foundCount() {
        return foundCount;
    }

    /**
     * Whether the payload of this packet, for which no block has asked, should have been asked for before the awaited
     * block: all packets before it have been entered, or one after it has.
     */
    boolean isOverdue(int index) {
        return packetCount >= index || furthestIndex > index;
    }

    /** Enters a packet whose payload has been consumed. Packets of different links may be entered in any order. */
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

    /** Whether the sender aborted the message. */
    public boolean isAborted() {
        return aborted;
    }

    /** Starts the next message. */
    public void nextMessage() {
        sequence++;
        packetCount = 0;
        furthestIndex = UNKNOWN;
        lastIndex = UNKNOWN;
        aborted = false;
    }
}
