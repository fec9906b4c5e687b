package io.madeleine.api;

import static io.madeleine.api.ReceiveMode.CHEAPER;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.Objects;
import java.util.concurrent.TimeUnit;

/**
 * A message being taken apart, from {@link Channel#beginUnpacking()} to {@link #endUnpacking()}.
 *
 * <p>The calls mirror those of the sender: same sizes, same modes, same order. What is noticed of a difference is an
 * {@link AsymmetricMessageException}, as soon as what has arrived shows it and at the latest when the whole message has; the
 * rest of the message is then discarded and the connection stays usable.
 *
 * <p>Blocks travel without their sizes, so what is compared is how many bytes each transmission module carries, and, of
 * modules that keep groups together, where EXPRESS blocks stand. Missing, surplus, larger and smaller blocks are always
 * noticed. What leaves these numbers as they are is not: blocks that change places within a module, that are merged or
 * split there, that have other modes, or no bytes. Where {@code madeleine.debug.self-described} is on, in all processes,
 * size, modes and module go before each block: every difference is noticed, at its block, and the error names both.
 */
public non-sealed interface IncomingMessage extends Message {
    /**
     * Extracts the next block into {@code block}: at once for {@link ReceiveMode#EXPRESS} (which waits for it), at the
     * latest at the end of unpacking for {@link ReceiveMode#CHEAPER} (which never waits).
     *
     * <p>Ownership: the block is lent until its data is there; it is not to be read, changed or freed before.
     *
     * @throws MessageAbortedException if the sender has given the message up
     * @throws AsymmetricMessageException if the sender packed something else
     * @throws PeerFailedException if the sender died before it had sent the block
     * @throws DeadlineExceededException if an EXPRESS block takes longer than {@link #within} allows; the message is
     *     still open then: repeat the call for the same block with more time, or end or close the message
     * @throws IllegalArgumentException if the block is read-only
     */
    IncomingMessage unpack(MemorySegment block, SendMode sendMode, ReceiveMode receiveMode);

    /** Extracts {@code bytes} bytes into {@code block} at {@code offset}, without making a slice. */
    IncomingMessage unpack(MemorySegment block, long offset, long bytes, SendMode sendMode, ReceiveMode receiveMode);

    /**
     * Extracts the next block, of as many bytes as the ranges of the layout have together, into these in order. The sender may have
     * packed another layout, or a contiguous block. What is said of a block holds for each range. Ranges of different parts of the
     * layout are not to overlap: what is in them afterwards would not be said.
     *
     * @throws IllegalArgumentException if some of the memory is read-only, or ranges of a part overlap
     */
    IncomingMessage unpack(BlockLayout block, SendMode sendMode, ReceiveMode receiveMode);

    /** Fills the array. */
    default IncomingMessage unpack(byte[] block, SendMode sendMode, ReceiveMode receiveMode) {
        return unpack(MemorySegment.ofArray(Objects.requireNonNull(block, "block")), sendMode, receiveMode);
    }

    /** Fills what remains of the buffer; its position does not move. */
    default IncomingMessage unpack(ByteBuffer block, SendMode sendMode, ReceiveMode receiveMode) {
        return unpack(MemorySegment.ofBuffer(Objects.requireNonNull(block, "block")), sendMode, receiveMode);
    }

    /** Fills the array, native byte order. */
    default IncomingMessage unpack(short[] block, SendMode sendMode, ReceiveMode receiveMode) {
        return unpack(MemorySegment.ofArray(Objects.requireNonNull(block, "block")), sendMode, receiveMode);
    }

    /** Fills the array, native byte order. */
    default IncomingMessage unpack(char[] block, SendMode sendMode, ReceiveMode receiveMode) {
        return unpack(MemorySegment.ofArray(Objects.requireNonNull(block, "block")), sendMode, receiveMode);
    }

    /** Fills the array, native byte order. */
    default IncomingMessage unpack(int[] block, SendMode sendMode, ReceiveMode receiveMode) {
        return unpack(MemorySegment.ofArray(Objects.requireNonNull(block, "block")), sendMode, receiveMode);
    }

    /** Fills the array, native byte order. */
    default IncomingMessage unpack(long[] block, SendMode sendMode, ReceiveMode receiveMode) {
        return unpack(MemorySegment.ofArray(Objects.requireNonNull(block, "block")), sendMode, receiveMode);
    }

    /** Fills the array, native byte order. */
    default IncomingMessage unpack(float[] block, SendMode sendMode, ReceiveMode receiveMode) {
        return unpack(MemorySegment.ofArray(Objects.requireNonNull(block, "block")), sendMode, receiveMode);
    }

    /** Fills the array, native byte order. */
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

    /** Extracts what {@link OutgoingMessage#packByte} appended. */
    byte unpackByte();

    /** Extracts what {@link OutgoingMessage#packBoolean} appended. */
    default boolean unpackBoolean() {
        return unpackByte() != 0;
    }

    /** Extracts what {@link OutgoingMessage#packInt} appended. */
    int unpackInt();

    /** Extracts what {@link OutgoingMessage#packLong} appended. */
    long unpackLong();

    /** Extracts what {@link OutgoingMessage#packFloat} appended. */
    default float unpackFloat() {
        return Float.intBitsToFloat(unpackInt());
    }

    /** Extracts what {@link OutgoingMessage#packDouble} appended. */
    default double unpackDouble() {
        return Double.longBitsToDouble(unpackLong());
    }

    /**
     * Extracts what {@link OutgoingMessage#packUtf8} appended.
     *
     * @param maximumBytes the longest accepted UTF-8 form; memory is taken only for what is announced within it
     * @throws AsymmetricMessageException if the announced length is negative or above {@code maximumBytes}
     */
    String unpackUtf8(int maximumBytes);

    /** As {@link #unpackUtf8(int)} for strings of up to 1 MiB. */
    default String unpackUtf8() {
        return unpackUtf8(1 << 20);
    }

    /** Bounds every later wait of this message: they fail with {@link DeadlineExceededException} from then on. */
    IncomingMessage within(long timeout, TimeUnit unit);

    /**
     * Waits until every block has arrived and ends the message.
     *
     * @throws DeadlineExceededException if that takes longer than {@link #within} allows; the message is still open
     *     then: end it again with more time, or close it
     * @throws MessageAbortedException if the sender has given the message up
     * @throws AsymmetricMessageException if the sender packed more, less or other blocks
     * @throws PeerFailedException if the sender died before it had sent the whole message
     */
    void endUnpacking();

    /** As {@link #endUnpacking()}, waiting no longer than the given time. */
    default void endUnpacking(long timeout, TimeUnit unit) {
        within(timeout, unit).endUnpacking();
    }

    /**
     * Ends the message without waiting: its blocks hold their data when the completion is done. Does not allocate: the
     * completion belongs to the message.
     *
     * @throws IllegalStateException if a block that has not arrived lies in memory confined to one thread, since
     *     another may have to fill it
     */
    Completion endUnpackingAsync();

    /**
     * Drops what has not been unpacked and ends the message, without waiting: the session drains the rest, and the
     * sender's next message follows. Only where a NIC may be writing into blocks of the message, that is waited for, no longer
     * than {@code madeleine.peer-timeout}.
     */
    void discard();

    /** {@linkplain #discard() Discards} the message if it has not ended. */
    @Override
    default void close() {
        discard();
    }
}
