package io.madeleine.switching;

import io.madeleine.api.AsymmetricMessageException;
import io.madeleine.api.Channel;
import io.madeleine.api.Completion;
import io.madeleine.api.IncomingMessage;
import io.madeleine.api.MadeleineException;
import io.madeleine.api.ReceiveMode;
import io.madeleine.api.SendMode;
import io.madeleine.pmm.Condition;
import io.madeleine.pmm.Deadlines;
import io.madeleine.pmm.ProgressEngine;
import io.madeleine.pmm.spi.Blocks;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * An incoming message as its user holds it; for its reuse see {@link OutgoingHandle}.
 *
 * <p>Threading: one thread at a time, as {@link IncomingMessage} says.
 */
final class IncomingHandle implements IncomingMessage {
    private static final long NOBODY = -1;

    private final ReceiveHalf half;
    private final MessageCompletion completion;
    private final Optional<IncomingMessage> asOptional = Optional.of(this);
    private final MemorySegment scratch = Arena.ofAuto().allocate(Long.BYTES, Long.BYTES);
    private final Condition isCheckedOut;
    private final Condition hasEnded;
    private final Flag open = new Flag();
    private boolean ending;
    private boolean asynchronous;
    private boolean closed = true;

    /** The id of the thread, not the thread: storing a reference costs a fence under some collectors. */
    private long endedBy = NOBODY;

    private @Nullable Thread user;
    private long deadlineNs;
    private @Nullable UnfinishedUnpack unfinished;
    private byte @Nullable [] unfinishedUtf8;

    IncomingHandle(ReceiveHalf half, MessageCompletion completion) {
        this.half = half;
        this.completion = completion;
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

    boolean isReusable() {
        return (closed && !asynchronous) || endedBy == Thread.currentThread().threadId();
    }

    void begin() {
        completion.reset();
        deadlineNs = ProgressEngine.NO_DEADLINE;
        endedBy = NOBODY;
        unfinished = null;
        unfinishedUtf8 = null;
        ending = false;
        asynchronous = false;
        closed = false;
        open.raise();
    }

    /** The message has ended; the caller signals afterwards. */
    void end(@Nullable MadeleineException failure) {
        completion.complete(failure);
        open.lower();
    }

    /** Remembers the thread that may touch confined blocks. */
    void setUser(boolean confined) {
        user = confined ? Thread.currentThread() : null;
    }

    boolean isUsedBy(Thread thread) {
        return user == thread;
    }

    boolean isOpen() {
        return open.isUp();
    }

    MessageCompletion completion() {
        return completion;
    }

    Optional<IncomingMessage> asOptional() {
        return asOptional;
    }

    long deadlineNs() {
        return deadlineNs;
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
        if (left != null) {
            if (!left.isRepeatedBy(block, offset, bytes, sendMode, receiveMode)) {
                throw new IllegalStateException(
                        "the " + left + " of the message " + half.connection().toHere()
                                + " did not come to its end: repeat it with the same block, or end or close the message");
            }
            unfinished = null;
        }
        return left;
    }

    private void checkUnpacking() {
        if (!open.isUp() || ending) {
            completion.throwFailure();
            throw new IllegalStateException(
                    "the message " + half.connection().toHere() + " has ended: begin another with beginUnpacking");
        }
    }

    @Override
    public Channel channel() {
        return half.connection().channel();
    }

    @Override
    public int remote() {
        return half.connection().rank();
    }

    @Override
    public IncomingMessage unpack(MemorySegment block, SendMode sendMode, ReceiveMode receiveMode) {
        return unpack(block, 0, block.byteSize(), sendMode, receiveMode);
    }

    @Override
    public IncomingMessage unpack(
            MemorySegment block, long offset, long bytes, SendMode sendMode, ReceiveMode receiveMode) {
        checkUnpacking();
        Objects.checkFromIndexSize(offset, bytes, block.byteSize());
        if (block.isReadOnly()) {
            throw new IllegalArgumentException("unpack needs memory it can write, found a read-only block");
        }
        half.unpacking().unpack(this, block, offset, bytes, sendMode, receiveMode);
        return this;
    }

    @Override
    public byte unpackByte() {
        unpack(scratch, 0, Byte.BYTES, SendMode.SAFER, ReceiveMode.EXPRESS);
        return scratch.get(Blocks.BYTE, 0);
    }

    @Override
    public int unpackInt() {
        unpack(scratch, 0, Integer.BYTES, SendMode.SAFER, ReceiveMode.EXPRESS);
        return scratch.get(Blocks.INT, 0);
    }

    @Override
    public long unpackLong() {
        unpack(scratch, 0, Long.BYTES, SendMode.SAFER, ReceiveMode.EXPRESS);
        return scratch.get(Blocks.LONG, 0);
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
        deadlineNs = Deadlines.after(timeout, unit);
        return this;
    }

    @Override
    public void endUnpacking() {
        if (ending && !open.isUp()) {
            completion.throwFailure(); // the end came between a deadline and this second call
            return;
        }
        if (!ending) {
            checkUnpacking();
        }
        ending = true;
        endedBy = Thread.currentThread().threadId();
        half.unpacking().end(this);
    }

    @Override
    public Completion endUnpackingAsync() {
        checkUnpacking();
        half.unpacking().endAsync(this);
        ending = true;
        asynchronous = true;
        endedBy = Thread.currentThread().threadId();
        return completion;
    }

    @Override
    public void discard() {
        if (open.isUp() && !asynchronous) {
            half.discard(this);
        }
        endedBy = Thread.currentThread().threadId();
        closed = true; // last: from here on another message may use this object
    }
}
