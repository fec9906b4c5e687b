package io.madeleine.switching;

import io.madeleine.api.AsymmetricMessageException;
import io.madeleine.api.BlockLayout;
import io.madeleine.api.Completion;
import io.madeleine.api.IncomingMessage;
import io.madeleine.api.ReceiveMode;
import io.madeleine.api.SendMode;
import io.madeleine.pmm.Condition;
import io.madeleine.pmm.StackRoom;
import io.madeleine.pmm.Waitable;
import io.madeleine.pmm.spi.Blocks;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * An incoming message as its user holds it.
 *
 * <p>Threading: one thread at a time, as {@link IncomingMessage} says.
 */
final class IncomingHandle extends MessageHandle implements IncomingMessage {
    private final ReceiveHalf half;
    private final Optional<IncomingMessage> asOptional = Optional.of(this);
    private final Condition isCheckedOut;
    private final Condition hasEnded;
    private @Nullable Thread user;
    private @Nullable UnfinishedUnpack unfinished;
    private byte @Nullable [] unfinishedUtf8;

    IncomingHandle(ReceiveHalf half, Waitable news, MemorySegment scratch) {
        super(half.connection(), new MessageCompletion(half.connection().engine(), news), scratch);
        this.half = half;
        this.isCheckedOut = () -> half.isCheckedOut(this);
        this.hasEnded = () -> half.hasEnded(this);
    }

    /** What a wait for an EXPRESS block waits for. */
    Condition isCheckedOut() {
        return isCheckedOut;
    }

    /** What a wait for the end waits for. */
    Condition hasEnded() {
        return hasEnded;
    }

    @Override
    void begin(long messageNumber) {
        unfinished = null;
        unfinishedUtf8 = null;
        super.begin(messageNumber);
    }

    /** Remembers the thread that may touch confined blocks. */
    void setUser(boolean confined) {
        user = confined ? Thread.currentThread() : null;
    }

    boolean isUsedBy(Thread thread) {
        return user == thread;
    }

    Optional<IncomingMessage> asOptional() {
        return asOptional;
    }

    /** An unpack's wait has ended early. */
    void remember(UnfinishedUnpack left) {
        unfinished = left;
    }

    @Nullable
    UnfinishedUnpack takeUnfinished() {
        UnfinishedUnpack left = unfinished;
        unfinished = null;
        return left;
    }

    /**
     * The unpack that this one repeats, or null if it is a new one.
     *
     * @throws IllegalStateException if another one has to be repeated
     */
    @Nullable
    UnfinishedUnpack takeUnfinished(
            MemorySegment block, long offset, long bytes, SendMode sendMode, ReceiveMode receiveMode) {
        UnfinishedUnpack left = unfinished;
        return left == null ? null : take(left, left.isRepeatedBy(block, offset, bytes, sendMode, receiveMode));
    }

    /** The same for a block that lies in the ranges of a layout. */
    @Nullable
    UnfinishedUnpack takeUnfinished(BlockLayout block, SendMode sendMode, ReceiveMode receiveMode) {
        UnfinishedUnpack left = unfinished;
        return left == null ? null : take(left, left.isRepeatedBy(block, sendMode, receiveMode));
    }

    private UnfinishedUnpack take(UnfinishedUnpack left, boolean repeated) {
        if (!repeated) {
            throw new IllegalStateException(
                    "the " + left + " of the message " + connection().toHere()
                            + " did not come to its end: repeat it with the same block, or end or close the message");
        }
        unfinished = null;
        return left;
    }

    private void checkUnpacking() {
        StackRoom.ensure();
        checkOpen();
    }

    private void checkOpen() {
        if (!isOpen() || isEnding()) {
            completion().throwFailure();
            throw new IllegalStateException(
                    "the message " + connection().toHere() + " has ended: begin another with beginUnpacking");
        }
    }

    @Override
    public IncomingMessage unpack(MemorySegment block, SendMode sendMode, ReceiveMode receiveMode) {
        require(block, sendMode, receiveMode);
        return unpack(block, 0, block.byteSize(), sendMode, receiveMode);
    }

    @Override
    public IncomingMessage unpack(
            MemorySegment block, long offset, long bytes, SendMode sendMode, ReceiveMode receiveMode) {
        checkUnpacking();
        require(block, sendMode, receiveMode);
        Objects.checkFromIndexSize(offset, bytes, block.byteSize());
        if (block.isReadOnly()) {
            throw new IllegalArgumentException("unpack needs memory it can write, found a read-only block");
        }
        half.unpacking().unpack(this, block, offset, bytes, sendMode, receiveMode);
        return this;
    }

    @Override
    public IncomingMessage unpack(BlockLayout block, SendMode sendMode, ReceiveMode receiveMode) {
        checkUnpacking();
        require(block, sendMode, receiveMode);
        if (block.isReadOnly() || block.isOverlapping()) {
            throw new IllegalArgumentException("unpack needs memory it can write, and each byte once; found a " + block
                    + (block.isReadOnly() ? ", some of which is read-only" : " that overlap"));
        }
        half.unpacking().unpack(this, block, sendMode, receiveMode);
        return this;
    }

    @Override
    public byte unpackByte() {
        unpack(scratch(), 0, Byte.BYTES, SendMode.SAFER, ReceiveMode.EXPRESS);
        return scratch().get(Blocks.BYTE, 0);
    }

    @Override
    public int unpackInt() {
        unpack(scratch(), 0, Integer.BYTES, SendMode.SAFER, ReceiveMode.EXPRESS);
        return scratch().get(Blocks.INT, 0);
    }

    @Override
    public long unpackLong() {
        unpack(scratch(), 0, Long.BYTES, SendMode.SAFER, ReceiveMode.EXPRESS);
        return scratch().get(Blocks.LONG, 0);
    }

    @Override
    public String unpackUtf8(int maximumBytes) {
        byte[] utf8 = unfinishedUtf8;
        if (utf8 == null) {
            int length = unpackInt();
            if (length < 0 || length > maximumBytes) {
                throw new AsymmetricMessageException("a string of " + Integer.toUnsignedString(length)
                        + " bytes is announced by rank " + remote() + " on channel "
                        + channel().name() + "; expected 0 to " + maximumBytes + " bytes");
            }
            utf8 = new byte[length];
        }
        unfinishedUtf8 = utf8; // if the wait for it ends early, this call can be repeated like others
        unpack(utf8, SendMode.SAFER, ReceiveMode.EXPRESS);
        unfinishedUtf8 = null;
        return new String(utf8, StandardCharsets.UTF_8);
    }

    @Override
    public IncomingMessage within(long timeout, TimeUnit unit) {
        bound(timeout, unit);
        return this;
    }

    @Override
    public void endUnpacking() {
        StackRoom.ensure();
        if (isEnding() && !isOpen()) {
            completion().throwFailure(); // the end came between a deadline and this second call
            return;
        }
        if (!isEnding()) {
            checkOpen();
        }
        startEnding();
        half.unpacking().end(this);
    }

    @Override
    public Completion endUnpackingAsync() {
        checkUnpacking();
        half.unpacking().endAsync(this);
        startEndingAsync();
        return completion();
    }

    @Override
    public void discard() {
        if (isGivenUpByClose()) {
            StackRoom.ensureToClose();
            half.discard(number());
            half.awaitRetraction(this);
        }
    }

    @Override
    public void close() {
        boolean begun = false;
        try {
            if (isGivenUpByClose()) {
                StackRoom.ensureToClose();
            }
            begun = true;
        } finally {
            if (!begun && !asynchronous) {
                half.abandoned = number; // without a call
            }
        }
        if (completion().isClosed()) {
            return;
        }
        discard();
        leaveToNext();
    }
}
