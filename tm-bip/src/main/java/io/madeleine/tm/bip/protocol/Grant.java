package io.madeleine.tm.bip.protocol;

/**
 * What the {@link GrantScheduler} knows of one connection: the offsets of its stream of bip/long.
 *
 * <p>Threading: the scheduler's lock guards all fields; {@link #limit()} may be read by any thread.
 */
final class Grant {
    /** The id of the connection at this end. */
    final long ownId;

    /** How many bytes the receiver can keep before they are read. */
    final int capacity;

    /** The sender may send bytes before this offset. */
    private volatile long limit;

    /** The sender has said that it wants to send bytes before this offset. */
    long wanted;

    /** How many bytes have arrived, even if some are missing between them. */
    long arrived;

    /** How many bytes have been read. */
    long taken;

    /** The end of the oldest message that is open. */
    long messageEnd;

    /** The place of that message in the order in which messages were opened. */
    long age;

    /** When bytes arrived last, or were granted while none were outstanding. */
    long movedNs;

    /** Whether the sender has more to send than it was known to have arrived. */
    boolean isOpen;

    /** Whether nothing has arrived for so long that others may use what was granted. */
    boolean isStalled;

    /** Whether it is on the list of grants whose limit was raised on behalf of another. */
    boolean isListed;

    /** Whether the connection no longer takes part. */
    boolean isRemoved;

    Grant(long ownId, int capacity) {
        this.ownId = ownId;
        this.capacity = capacity;
    }

    long limit() {
        return limit;
    }

    void raise(long bytes) {
        limit += bytes;
    }

    /** How many bytes may be under way. */
    long outstanding() {
        return limit - arrived;
    }

    /** How many bytes the message lacks. */
    long remaining() {
        return wanted - arrived;
    }
}
