package io.madeleine.api;

import static io.madeleine.api.ReceiveMode.CHEAPER;
import static io.madeleine.api.ReceiveMode.EXPRESS;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.Objects;
import java.util.concurrent.TimeUnit;

/**
 * A message under construction, from {@link Channel#beginPacking(int)} to {@link #endPacking()}.
 *
 * <p>{@code pack} never waits: what the network does not take at once is kept by reference (or as a copy, for
 * {@link SendMode#SAFER}) and sent while the session makes progress. {@code endPacking} waits until every block may be
 * reused; it does not say that the peer has received them.
 *
 * <p>No block is promised to leave before {@code endPacking}, not even an EXPRESS one: blocks are aggregated, so that many go in one
 * packet. Who waits for an answer to the first blocks ends a message behind them.
 *
 * <p>Blocks of zero bytes are blocks like any other. A block in confined memory is moved by the thread that may touch
 * it, or copied. If an arena is closed while a block of it is in flight, the message fails with
 * {@link MessageAbortedException} at both ends, and nothing worse happens. Only a thread that is inside that block at this moment, in
 * one of its own calls, may be found interrupted afterwards: the JVM does so with any thread inside memory that another one frees.
 */
public non-sealed interface OutgoingMessage extends Message {
    /**
     * Appends a block.
     *
     * <p>Ownership: the block stays the caller's; see {@link SendMode} for when it may be changed.
     *
     * @throws PeerFailedException if the peer is gone
     */
    OutgoingMessage pack(MemorySegment block, SendMode sendMode, ReceiveMode receiveMode);

    /** Appends {@code bytes} bytes of {@code block} from {@code offset} on, without making a slice. */
    OutgoingMessage pack(MemorySegment block, long offset, long bytes, SendMode sendMode, ReceiveMode receiveMode);

    /**
     * Appends the ranges of a layout as one block of their sum: it takes the way of a contiguous block of that size, and the other
     * side may have another layout. What is said of a block holds for each range. Ranges may overlap.
     */
    OutgoingMessage pack(BlockLayout block, SendMode sendMode, ReceiveMode receiveMode);

    /** Appends the whole array. */
    default OutgoingMessage pack(byte[] block, SendMode sendMode, ReceiveMode receiveMode) {
        return pack(MemorySegment.ofArray(Objects.requireNonNull(block, "block")), sendMode, receiveMode);
    }

    /** Appends what remains of the buffer; its position does not move. */
    default OutgoingMessage pack(ByteBuffer block, SendMode sendMode, ReceiveMode receiveMode) {
        return pack(MemorySegment.ofBuffer(Objects.requireNonNull(block, "block")), sendMode, receiveMode);
    }

    /** Appends the whole array in native byte order. */
    default OutgoingMessage pack(short[] block, SendMode sendMode, ReceiveMode receiveMode) {
        return pack(MemorySegment.ofArray(Objects.requireNonNull(block, "block")), sendMode, receiveMode);
    }

    /** Appends the whole array in native byte order. */
    default OutgoingMessage pack(char[] block, SendMode sendMode, ReceiveMode receiveMode) {
        return pack(MemorySegment.ofArray(Objects.requireNonNull(block, "block")), sendMode, receiveMode);
    }

    /** Appends the whole array in native byte order. */
    default OutgoingMessage pack(int[] block, SendMode sendMode, ReceiveMode receiveMode) {
        return pack(MemorySegment.ofArray(Objects.requireNonNull(block, "block")), sendMode, receiveMode);
    }

    /** Appends the whole array in native byte order. */
    default OutgoingMessage pack(long[] block, SendMode sendMode, ReceiveMode receiveMode) {
        return pack(MemorySegment.ofArray(Objects.requireNonNull(block, "block")), sendMode, receiveMode);
    }

    /** Appends the whole array in native byte order. */
    default OutgoingMessage pack(float[] block, SendMode sendMode, ReceiveMode receiveMode) {
        return pack(MemorySegment.ofArray(Objects.requireNonNull(block, "block")), sendMode, receiveMode);
    }

    /** Appends the whole array in native byte order. */
    default OutgoingMessage pack(double[] block, SendMode sendMode, ReceiveMode receiveMode) {
        return pack(MemorySegment.ofArray(Objects.requireNonNull(block, "block")), sendMode, receiveMode);
    }

    /** Appends a block CHEAPER/CHEAPER, the default modes. */
    default OutgoingMessage pack(MemorySegment block) {
        return pack(block, SendMode.CHEAPER, CHEAPER);
    }

    /** Appends the ranges of a layout as one block CHEAPER/CHEAPER, the default modes. */
    default OutgoingMessage pack(BlockLayout block) {
        return pack(block, SendMode.CHEAPER, CHEAPER);
    }

    /** Appends a byte, SAFER/EXPRESS. */
    OutgoingMessage packByte(byte value);

    /** Appends a boolean as one byte, SAFER/EXPRESS. */
    default OutgoingMessage packBoolean(boolean value) {
        return packByte((byte) (value ? 1 : 0));
    }

    /** Appends an int of four bytes, little-endian, SAFER/EXPRESS. */
    OutgoingMessage packInt(int value);

    /** Appends a long of eight bytes, little-endian, SAFER/EXPRESS. */
    OutgoingMessage packLong(long value);

    /** Appends a float of four bytes, SAFER/EXPRESS. */
    default OutgoingMessage packFloat(float value) {
        return packInt(Float.floatToRawIntBits(value));
    }

    /** Appends a double of eight bytes, SAFER/EXPRESS. */
    default OutgoingMessage packDouble(double value) {
        return packLong(Double.doubleToRawLongBits(value));
    }

    /** Appends a string: its length in bytes as an int, then its UTF-8 form, both SAFER/EXPRESS. */
    default OutgoingMessage packUtf8(String value) {
        byte[] utf8 = value.getBytes(java.nio.charset.StandardCharsets.UTF_8);
        return packInt(utf8.length).pack(utf8, SendMode.SAFER, EXPRESS);
    }

    /** Bounds every later wait of this message: they fail with {@link DeadlineExceededException} from then on. */
    OutgoingMessage within(long timeout, TimeUnit unit);

    /**
     * Finalizes the message and waits until every block may be reused.
     *
     * @throws DeadlineExceededException if that takes longer than {@link #within} allows; the message is still open
     *     then: end it again with more time, or close it
     * @throws PeerFailedException if the peer is gone
     */
    void endPacking();

    /** As {@link #endPacking()}, waiting no longer than the given time. */
    default void endPacking(long timeout, TimeUnit unit) {
        within(timeout, unit).endPacking();
    }

    /**
     * Finalizes the message without waiting. Its blocks may be reused when the completion is done; until then the
     * connection's next message has to wait. Does not allocate: the completion belongs to the message.
     */
    Completion endPackingAsync();

    /**
     * Aborts the message if {@link #endPacking()} has not been called or did not return normally: its receiver gets a
     * {@link MessageAbortedException}, and the connection stays usable. Does nothing after the end.
     *
     * <p>A message whose end was asked for, and waited for in vain, may have left by now: then it arrives, as if the end had been waited for.
     * Who has to know calls {@link #endPacking()} again, with a bound, instead of this.
     *
     * <p>When this returns nobody looks at the message's blocks any more. It waits for that alone: until whoever drives the networks has
     * heard of it, and for memory that a NIC is reading no longer than {@code madeleine.peer-timeout}.
     */
    @Override
    void close();
}
