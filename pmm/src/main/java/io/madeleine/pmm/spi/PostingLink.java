package io.madeleine.pmm.spi;

/**
 * Further operations of a {@link StaticLink} or {@link DynamicLink} whose network moves memory by itself, as a NIC
 * does: the link learns where data will go before it arrives (posted receives), and may read a sender's memory after
 * {@code send} has returned. The user of a link checks once, when the link is made, whether it implements this
 * interface.
 *
 * <p>The link must cope with memory that its user frees meanwhile: it posts only memory that it can keep alive, such as
 * memory of the session, and copies the rest as other links do. While anything is posted, the adapter's {@link
 * ProgressSource#longestSleepNs()} is at most {@link #LONGEST_SLEEP_NS}, because users wait for posted memory only for
 * a limited time.
 *
 * <p>When the connection is lost or {@linkplain ProtocolConnection#giveUp() given up}, the link gets all posted memory
 * back soon, without the peer's help. After {@link ProtocolConnection#close()} nothing is posted.
 *
 * <p>Threading: {@link #expect} and {@link #retract} belong to the receiving half; any thread may call {@link
 * #holdsMemory}.
 */
public interface PostingLink {
    /** The longest sleep of an adapter while anything is posted, in nanoseconds. */
    long LONGEST_SLEEP_NS = 100_000_000;

    /**
     * Announces the blocks for the next bytes of the link's payload stream: those behind what has been taken of the
     * stream and what is expected already. The stream has no packet boundaries here, since the sender chooses them; and
     * no position, since the link sees all that is taken. The link may place data in the blocks as it arrives, or
     * ignore the announcement. In either case packets appear in {@link TransmissionLink#front()} as usual. The caller
     * takes their payload by {@link TransmissionLink#receive} into the same memory, and the link copies only what it
     * has not placed there. The caller does not use {@link TransmissionLink#receiveWhole} or {@link
     * TransmissionLink#skip} for expected payload.
     *
     * <p>Ownership: the group returns to the caller at once; the link may have advanced it, so the caller clears it.
     * The blocks are lent until their bytes have been received, or until {@link #retract()} has completed.
     */
    void expect(BufferGroup blocks);

    /**
     * Withdraws all expected blocks. Data that has arrived in them, or is on its way to them, remains part of the
     * stream: the link keeps it elsewhere until it is received or skipped.
     *
     * @return {@link LinkStatus#COMPLETE} if nothing writes to the blocks any more, or if nothing was expected; {@link
     *     LinkStatus#PENDING} if the caller has to repeat the call. Until it completes, the caller makes no other call
     *     of the receiving half. Its completion counts as an event and ends the engine's sleep
     */
    int retract();

    /**
     * Whether the link still reads memory that its user has sent, although the group was advanced. The link limits how
     * much. The user gets the memory back when this turns false; that counts as an event and ends the engine's sleep.
     */
    boolean holdsMemory();
}
