package io.madeleine.api;

import static io.madeleine.api.ReceiveMode.CHEAPER;
import static io.madeleine.api.ReceiveMode.EXPRESS;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.Objects;
import java.util.concurrent.TimeUnit;

/**
 * A message that is being packed, from {@link Channel#beginPacking(int)} to {@link #endPacking()}.
 *
 * <p>{@code pack} never waits: data that the network does not take at once is kept by reference (or as a copy, for
 * {@link SendMode#SAFER}) and sent while the session makes progress. {@code endPacking} waits until every block may be
 * reused; it does not mean that the peer has received them.
 *
 * <p>No block, not even an EXPRESS one, is guaranteed to leave before {@code endPacking}: blocks are aggregated into
 * packets. To get an answer to the first blocks, end the message after them.
 *
 * <p>Blocks of zero bytes are blocks like any other. The thread that may access a block in confined memory moves it, or
 * the session copies it. If an arena is closed while a block of it is in flight, the message fails with
 * {@link MessageAbortedException} at both ends, and nothing worse happens. One side effect comes from the JVM: a thread
 * that is accessing the block in a call of its own at that moment may find its interrupt status set afterwards.
 */
public non-sealed interface OutgoingMessage extends Message {
    /**
     * Appends a block.
     *
     * <p>Ownership: the block stays the caller's; {@link SendMode} says when it may be changed.
     *
     * @throws PeerFailedException if the peer is gone
     */
    OutgoingMessage pack(MemorySegment block, SendMode sendMode, ReceiveMode receiveMode);

    /** Appends {@code bytes} bytes of {@code block} from {@code offset} on, without making a slice. */
    OutgoingMessage pack(MemorySegment block, long offset, long bytes, SendMode sendMode, ReceiveMode receiveMode);

    /**
     * Appends the ranges of a layout as one block of {@link BlockLayout#byteSize()} bytes. It is sent like a contiguous
     * block of that size, and the other side may use another layout. The ownership of each range is that of a block.
     * Ranges may overlap.
     */
    OutgoingMessage pack(BlockLayout block, SendMode sendMode, ReceiveMode receiveMode);

    /** Appends the whole array. */
    default OutgoingMessage pack(byte[] block, SendMode sendMode, ReceiveMode receiveMode) {
        return pack(MemorySegment.ofArray(Objects.requireNonNull(block, "block")), sendMode, receiveMode);
    }

    /** Appends the remaining part of the buffer; its position does not move. */
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

    /**
     * Sets a deadline for every later wait of this message: from then on a wait fails with
     * {@link DeadlineExceededException}.
     */
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
     * Finalizes the message without waiting. Its blocks may be reused when the completion is done; the connection's
     * next message cannot begin before. From this call on nothing aborts the message, not even {@link #close}. Does not
     * allocate: the completion belongs to the message.
     */
    Completion endPackingAsync();

    /**
     * Aborts the message unless {@link #endPacking()} has returned normally: its receiver gets a {@link
     * MessageAbortedException}, and the connection stays usable. If parts of a long message are on their way, the next
     * one can begin only when the receiver has taken them and come to the abort. Does nothing after the end, and aborts
     * nothing after {@link #endPackingAsync()}: that message is still sent, and its blocks stay lent until its
     * completion is done.
     *
     * <p>If a call of {@link #endPacking()} has failed, for instance at its deadline, the message may have left in the
     * meantime. It is then delivered as if the call had succeeded. To be certain, call {@link #endPacking()} again,
     * with a bound, instead of this method.
     *
     * <p>After a call that aborts the message nothing accesses its blocks. The call waits only for that: until the
     * thread that drives the networks has stopped using them and, if a NIC is reading them, no longer than {@code
     * madeleine.peer-timeout}.
     */
    @Override
    void close();
}
