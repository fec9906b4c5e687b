package io.madeleine.tm.via.link;

/**
 * The credits of one kind of packets of a connection: those that this end returns to its peer, and those that the peer
 * has returned. All are counts since the connection began, modulo 2^32; on the way they may be modulo 2^16.
 *
 * <p>Threading: the receiving half releases; any thread that sends a message reports; the thread that polls enters what
 * the peer has returned.
 */
final class Credits {
    private final int window;
    private volatile int released;
    private volatile int reported;
    private volatile int returned;

    Credits(int window) {
        this.window = window;
    }

    /** This end has released a packet; returns whether that should be reported in a message of its own. */
    boolean release() {
        released = released + 1; // written by one thread at a time
        return isDue();
    }

    boolean isDue() {
        return released - reported >= Math.max(1, window / 2);
    }

    /** How many packets this end has released, for a message that is about to be sent. */
    int report() {
        int now = released;
        reported = now;
        return now;
    }

    /** How many packets the peer has released. */
    int returned() {
        return returned;
    }

    /**
     * The peer reports how many it has released; messages may overtake each other. Returns whether the number has
     * grown.
     */
    boolean enter(int count) {
        int before = returned;
        int news = (short) (count - before);
        if (news > 0) {
            returned = before + news;
        }
        return news > 0;
    }
}
