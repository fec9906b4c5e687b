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

    IncomingHandle(ReceiveHalf half, Waitable changed, MemorySegment scratch) {
        super(half.connection(), new MessageCompletion(half.connection().engine(), changed), scratch);
        this.half = half;
        this.isCheckedOut = () -> half.isCheckedOut(this);
        this.hasEnded = () -> half.hasEnded(this);
    }

    /** The condition of a wait for an EXPRESS block. */
    Condition isCheckedOut() {
        return isCheckedOut;
    }

    /** The condition of a wait for the end. */
    Condition hasEnded() {
        return hasEnded;
    }

    @Override
    void begin(long messageNumber) {
        unfinished = null;
        unfinishedUtf8 = null;
        super.begin(messageNumber);
    }

    /** Records the calling thread as the one that may access confined blocks, if there are any. */
    void setUser(boolean confined) {
        user = confined ? Thread.currentThread() : null;
    }

    boolean isUsedBy(Thread thread) {
        return user == thread;
    }

    Optional<IncomingMessage> asOptional() {
        return asOptional;
    }

    /** Remembers an unpack whose wait has ended early. */
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
     * Returns the unfinished unpack that this call repeats, or null if there is none.
     *
     * @throws IllegalStateException if the call does not repeat the unfinished unpack
     */
    @Nullable
    UnfinishedUnpack takeUnfinished(
            MemorySegment block, long offset, long bytes, SendMode sendMode, ReceiveMode receiveMode) {
        UnfinishedUnpack left = unfinished;
        return left == null ? null : take(left, left.isRepeatedBy(block, offset, bytes, sendMode, receiveMode));
    }

    /** As above, for a block that lies in the ranges of a layout. */
    @Nullable
    UnfinishedUnpack takeUnfinished(BlockLayout block, SendMode sendMode, ReceiveMode receiveMode) {
        UnfinishedUnpack left = unfinished;
        return left == null ? null : take(left, left.isRepeatedBy(block, sendMode, receiveMode));
    }

    private UnfinishedUnpack take(UnfinishedUnpack left, boolean repeated) {
        if (!repeated) {
            throw new IllegalStateException(
                    "the " + left + " of the message " + connection().toHere()
                            + " has not finished: repeat it with the same block, or end or close the message");
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
            throw new IllegalArgumentException("unpack into a read-only block; expected writable memory");
        }
        half.unpacking().unpack(this, block, offset, bytes, sendMode, receiveMode);
        return this;
    }

    @Override
    public IncomingMessage unpack(BlockLayout block, SendMode sendMode, ReceiveMode receiveMode) {
        checkUnpacking();
        require(block, sendMode, receiveMode);
        if (block.isReadOnly() || block.isOverlapping()) {
            throw new IllegalArgumentException("unpack into a " + block
                    + (block.isReadOnly() ? ", some of which are read-only" : " that overlap")
                    + "; expected writable ranges that do not overlap");
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
                throw new AsymmetricMessageException("rank " + remote() + " on channel "
                        + channel().name() + " announced a string of " + Integer.toUnsignedString(length)
                        + " bytes; expected 0 to " + maximumBytes + " bytes");
            }
            utf8 = new byte[length];
        }
        unfinishedUtf8 = utf8; // if the wait ends early, the user can repeat this call like others
        unpack(utf8, SendMode.SAFER, ReceiveMode.EXPRESS);
        unfinishedUtf8 = null;
        return new String(utf8, StandardCharsets.UTF_8);
    }

    @Override
    public IncomingMessage within(long timeout, TimeUnit unit) {
        setDeadline(timeout, unit);
        return this;
    }

    @Override
    public void endUnpacking() {
        StackRoom.ensure();
        if (isEnding() && !isOpen()) {
            completion().throwFailure(); // the message ended between a deadline and this second call
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
                half.abandoned = number; // a field access: there may be no stack left for a call
            }
        }
        if (completion().isClosed()) {
            return;
        }
        discard();
        leaveToNext();
    }
}
