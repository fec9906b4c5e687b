package io.madeleine.pmm.spi;

/**
 * What a link can do beside {@link StaticLink} or {@link DynamicLink} whose network moves memory by itself, as a NIC does:
 * learn where data will go before it comes, and go on reading memory after it has taken it. Whoever uses a link asks once, when
 * it is made, whether it is one of these; the others are never asked anything.
 *
 * <p>Memory that somebody may free meanwhile is the link's to look after: it posts only what it can hold on to (memory of the
 * session, say), and copies the rest as other links do. As long as anything is posted, the adapter's {@link
 * ProgressSource#longestSleepNs()} is at most 100 ms, since there is a limit to how long it is waited for.
 *
 * <p>When the connection is lost, or {@linkplain ProtocolConnection#giveUp() given up}, whatever is posted comes back by means of
 * this side alone, within a moment; {@link ProtocolConnection#close()} has it back when it returns.
 *
 * <p>Threading: {@link #expect} and {@link #retract} belong to the receiving half, {@link #holdsMemory} may be asked by any
 * thread.
 */
public interface PostingLink {
    /** The longest that an adapter may sleep while anything is posted, in nanoseconds. */
    long LONGEST_SLEEP_NS = 100_000_000;

    /**
     * The next bytes of the link's stream of payload go into these blocks: those behind what has been taken of the stream and
     * what is expected already. (The stream knows no packets here: how it is cut is the sender's affair. Nor is its position
     * told: the link sees all that is taken.) The link may place data there as it comes, or may not. In either case packets
     * come up in {@link TransmissionLink#front()} as ever, and their payload is asked for by {@link TransmissionLink#receive}
     * into the same memory, which has nothing left to copy then. {@link TransmissionLink#receiveWhole} and {@link
     * TransmissionLink#skip} are not called for payload that is expected.
     *
     * <p>Ownership: the group is the caller's again at once, who clears it: the link may advance it. The blocks are lent until their bytes have been received, or
     * until a {@link #retract()} is complete.
     */
    void expect(BufferGroup blocks);

    /**
     * Takes back all that is expected. What has landed in these blocks, or is on its way to them, remains part of the stream:
     * the link keeps it elsewhere, to be received or skipped.
     *
     * @return {@link LinkStatus#COMPLETE} when nothing will be written to the blocks any more, or if nothing was expected; or
     *     {@link LinkStatus#PENDING}: the call is repeated then, and no other of the receiving half made, until it is complete,
     *     which counts as news that end the engine's sleep
     */
    int retract();

    /**
     * Whether the link still reads memory of packets whose group has been advanced; only so much as it has set itself as a
     * limit. The user gets his memory back when it does not; that moment counts as news that end the engine's sleep.
     */
    boolean holdsMemory();
}
