package io.madeleine.tm.via.link;

import io.madeleine.tm.via.port.Receives;

/**
 * The packets of via/pool that have arrived for a connection, in their slots.
 *
 * <p>Threading: the thread that polls adds; the thread of the receiving half takes.
 */
final class Inbox {
    private final Receives receives;
    private final int[] slots;
    private final int[] bytes;
    private volatile int added;
    private volatile int taken;

    Inbox(Receives receives, int capacity) {
        this.receives = receives;
        this.slots = new int[capacity];
        this.bytes = new int[capacity];
    }

    /** Adds a packet; false if the peer has sent more than it may. */
    boolean add(int slot, int messageBytes) {
        int at = added;
        if (at - taken == slots.length) {
            return false;
        }
        slots[at % slots.length] = slot;
        bytes[at % slots.length] = messageBytes;
        added = at + 1;
        return true;
    }

    boolean isEmpty() {
        return added == taken;
    }

    /** The slot in front; there is one. */
    int front() {
        return slots[taken % slots.length];
    }

    /** The length of the message in front. */
    int frontBytes() {
        return bytes[taken % slots.length];
    }

    /** Takes the slot in front and posts it again. */
    void release() {
        int slot = front();
        taken = taken + 1; // written by one thread at a time
        receives.post(slot);
    }

    /** Posts all slots again. */
    void drop() {
        while (!isEmpty()) {
            release();
        }
    }
}
