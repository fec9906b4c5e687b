package io.madeleine.api;

import static io.madeleine.api.ReceiveMode.CHEAPER;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.Objects;
import java.util.concurrent.TimeUnit;

/**
 * A message that is being unpacked, from {@link Channel#beginUnpacking()} to {@link #endUnpacking()}.
 *
 * <p>The unpack calls mirror the pack calls of the sender: same sizes, same modes, same order. A detected difference
 * raises an {@link AsymmetricMessageException} as soon as the arrived data shows it, at the latest when the whole
 * message has arrived. The rest of the message is then discarded and the connection stays usable.
 *
 * <p>Blocks travel without their sizes. So the comparison covers the number of bytes that each transmission module
 * carries and, for modules that keep groups together, the positions of EXPRESS blocks. Missing, surplus, larger and
 * smaller blocks are always detected. Not detected are differences that leave these numbers unchanged: blocks that
 * change places within a module, that are merged or split there, that have other modes, or that are empty. With
 * {@code madeleine.debug.self-described} on in all processes, a descriptor (size, modes, module) precedes each block:
 * every difference is then detected at its block, and the error shows both descriptions.
 */
public non-sealed interface IncomingMessage extends Message {
    /**
     * Extracts the next block into {@code block}. {@link ReceiveMode#EXPRESS} waits for the data;
     * {@link ReceiveMode#CHEAPER} never waits, and the data arrives at the latest by the end of unpacking.
     *
     * <p>Ownership: the block is lent to the message until its data has arrived; do not read, change or free it before.
     *
     * @throws MessageAbortedException if the sender has aborted the message
     * @throws AsymmetricMessageException if the sender packed something else
     * @throws PeerFailedException if the sender died before it had sent the block
     * @throws DeadlineExceededException if an EXPRESS block takes longer than {@link #within} allows; the message is
     *     still open then: repeat the call for the same block with more time, or end or close the message
     * @throws IllegalArgumentException if the block is read-only
     */
    IncomingMessage unpack(MemorySegment block, SendMode sendMode, ReceiveMode receiveMode);

    /**
     * As {@link #unpack(MemorySegment, SendMode, ReceiveMode)}, for {@code bytes} bytes of {@code block} from
     * {@code offset} on, without making a slice.
     */
    IncomingMessage unpack(MemorySegment block, long offset, long bytes, SendMode sendMode, ReceiveMode receiveMode);

    /**
     * Extracts the next block into the ranges of a layout, in order; the block has {@link BlockLayout#byteSize()}
     * bytes. The sender may have packed another layout, or a contiguous block. The ownership of each range is that of a
     * block. Ranges of different parts must not overlap: their content would be undefined.
     *
     * @throws IllegalArgumentException if some of the memory is read-only, or ranges of a part overlap
     */
    IncomingMessage unpack(BlockLayout block, SendMode sendMode, ReceiveMode receiveMode);

    /** Fills the array. */
    default IncomingMessage unpack(byte[] block, SendMode sendMode, ReceiveMode receiveMode) {
        return unpack(MemorySegment.ofArray(Objects.requireNonNull(block, "block")), sendMode, receiveMode);
    }

    /** Fills the remaining part of the buffer; its position does not move. */
    default IncomingMessage unpack(ByteBuffer block, SendMode sendMode, ReceiveMode receiveMode) {
        return unpack(MemorySegment.ofBuffer(Objects.requireNonNull(block, "block")), sendMode, receiveMode);
    }

    /** Fills the array, in native byte order. */
    default IncomingMessage unpack(short[] block, SendMode sendMode, ReceiveMode receiveMode) {
        return unpack(MemorySegment.ofArray(Objects.requireNonNull(block, "block")), sendMode, receiveMode);
    }

    /** Fills the array, in native byte order. */
    default IncomingMessage unpack(char[] block, SendMode sendMode, ReceiveMode receiveMode) {
        return unpack(MemorySegment.ofArray(Objects.requireNonNull(block, "block")), sendMode, receiveMode);
    }

    /** Fills the array, in native byte order. */
    default IncomingMessage unpack(int[] block, SendMode sendMode, ReceiveMode receiveMode) {
        return unpack(MemorySegment.ofArray(Objects.requireNonNull(block, "block")), sendMode, receiveMode);
    }

    /** Fills the array, in native byte order. */
    default IncomingMessage unpack(long[] block, SendMode sendMode, ReceiveMode receiveMode) {
        return unpack(MemorySegment.ofArray(Objects.requireNonNull(block, "block")), sendMode, receiveMode);
    }

    /** Fills the array, in native byte order. */
    default IncomingMessage unpack(float[] block, SendMode sendMode, ReceiveMode receiveMode) {
        return unpack(MemorySegment.ofArray(Objects.requireNonNull(block, "block")), sendMode, receiveMode);
    }

    /** Fills the array, in native byte order. */
    default IncomingMessage unpack(double[] block, SendMode sendMode, ReceiveMode receiveMode) {
        return unpack(MemorySegment.ofArray(Objects.requireNonNull(block, "block")), sendMode, receiveMode);
    }

    /** Extracts a block CHEAPER/CHEAPER, the default modes. */
    default IncomingMessage unpack(MemorySegment block) {
        return unpack(block, SendMode.CHEAPER, CHEAPER);
    }

    /** Extracts a block CHEAPER/CHEAPER, the default modes, into the ranges of a layout. */
    default IncomingMessage unpack(BlockLayout block) {
        return unpack(block, SendMode.CHEAPER, CHEAPER);
    }

    /** Extracts a byte that was packed with {@link OutgoingMessage#packByte}. */
    byte unpackByte();

    /** Extracts a boolean that was packed with {@link OutgoingMessage#packBoolean}. */
    default boolean unpackBoolean() {
        return unpackByte() != 0;
    }

    /** Extracts an int that was packed with {@link OutgoingMessage#packInt}. */
    int unpackInt();

    /** Extracts a long that was packed with {@link OutgoingMessage#packLong}. */
    long unpackLong();

    /** Extracts a float that was packed with {@link OutgoingMessage#packFloat}. */
    default float unpackFloat() {
        return Float.intBitsToFloat(unpackInt());
    }

    /** Extracts a double that was packed with {@link OutgoingMessage#packDouble}. */
    default double unpackDouble() {
        return Double.longBitsToDouble(unpackLong());
    }

    /**
     * Extracts a string that was packed with {@link OutgoingMessage#packUtf8}.
     *
     * @param maximumBytes the longest accepted UTF-8 form; no memory is allocated for a longer one
     * @throws AsymmetricMessageException if the announced length is negative or above {@code maximumBytes}
     */
    String unpackUtf8(int maximumBytes);

    /** As {@link #unpackUtf8(int)} for strings of up to 1 MiB. */
    default String unpackUtf8() {
        return unpackUtf8(1 << 20);
    }

    /**
     * Sets a deadline for every later wait of this message: from then on a wait fails with
     * {@link DeadlineExceededException}.
     */
    IncomingMessage within(long timeout, TimeUnit unit);

    /**
     * Waits until every block has arrived and ends the message.
     *
     * @throws DeadlineExceededException if that takes longer than {@link #within} allows; the message is still open
     *     then: end it again with more time, or close it
     * @throws MessageAbortedException if the sender has aborted the message
     * @throws AsymmetricMessageException if the sender packed more, less or other blocks
     * @throws PeerFailedException if the sender died before it had sent the whole message
     */
    void endUnpacking();

    /** As {@link #endUnpacking()}, waiting no longer than the given time. */
    default void endUnpacking(long timeout, TimeUnit unit) {
        within(timeout, unit).endUnpacking();
    }

    /**
     * Ends the message without waiting. The blocks hold their data when the completion is done, and stay lent until
     * then. From this call on nothing discards the message, not even {@link #discard} and {@link #close}. Does not
     * allocate: the completion belongs to the message.
     *
     * @throws IllegalStateException if a block that has not arrived lies in memory confined to one thread, since
     *     another thread may have to fill it
     */
    Completion endUnpackingAsync();

    /**
     * Drops the blocks that have not been unpacked and ends the message without waiting: the session drains the rest,
     * and the sender's next message follows. Only if a NIC may be writing into blocks of the message, the call waits
     * for the NIC, no longer than {@code madeleine.peer-timeout}. After this call nothing accesses the message's
     * blocks.
     *
     * <p>Does nothing after the end, nor after {@link #endUnpackingAsync}: the blocks of that message are still lent
     * until its completion is done.
     */
    void discard();

    /** {@linkplain #discard() Discards} the message if it has neither ended nor is ending asynchronously. */
    @Override
    default void close() {
        discard();
    }
}
