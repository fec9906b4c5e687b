package io.madeleine.switching;

import io.madeleine.api.Channel;
import io.madeleine.api.Completion;
import io.madeleine.api.OutgoingMessage;
import io.madeleine.api.ReceiveMode;
import io.madeleine.api.SendMode;
import io.madeleine.pmm.Deadlines;
import io.madeleine.pmm.ProgressEngine;
import io.madeleine.pmm.spi.Blocks;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * An outgoing message as its user holds it. A handle serves again once it has been closed, or when the thread that ended
 * it begins the next message; otherwise the next message gets a new one, so that a late {@code close} never hits a
 * message of another thread, nor does anybody lose a completion to one.
 *
 * <p>Threading: one thread at a time, as {@link OutgoingMessage} says.
 */
final class OutgoingHandle implements OutgoingMessage {
    private static final long NOBODY = -1;

    private final SendHalf half;
    private final MessageCompletion completion;
    private final Optional<OutgoingMessage> asOptional = Optional.of(this);
    private final MemorySegment scratch = Arena.ofAuto().allocate(Long.BYTES, Long.BYTES);
    private final Flag open = new Flag();
    private boolean ending;
    private boolean asynchronous;
    private boolean closed;
    private long number;

    /** The id of the thread, not the thread: storing a reference costs a fence under some collectors. */
    private long endedBy = NOBODY;

    private long deadlineNs;

    OutgoingHandle(SendHalf half, MessageCompletion completion) {
        this.half = half;
        this.completion = completion;
        this.closed = true;
    }

    boolean isReusable() {
        return (closed && !asynchronous) || endedBy == Thread.currentThread().threadId();
    }

    void begin(long messageNumber) {
        number = messageNumber;
        asynchronous = false;
        completion.reset();
        deadlineNs = ProgressEngine.NO_DEADLINE;
        endedBy = NOBODY;
        closed = false;
        ending = false;
        open.raise();
    }

    /** The message has ended, well or badly. */
    void end() {
        open.lower();
    }

    MessageCompletion completion() {
        return completion;
    }

    Optional<OutgoingMessage> asOptional() {
        return asOptional;
    }

    long deadlineNs() {
        return deadlineNs;
    }

    private void checkPacking() {
        if (!open.isUp() || ending) {
            throw new IllegalStateException(
                    "the message " + half.connection().fromHere() + " has ended: begin another with beginPacking");
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
    public OutgoingMessage pack(MemorySegment block, SendMode sendMode, ReceiveMode receiveMode) {
        checkPacking();
        half.pack(block, 0, block.byteSize(), sendMode, receiveMode);
        return this;
    }

    @Override
    public OutgoingMessage pack(
            MemorySegment block, long offset, long bytes, SendMode sendMode, ReceiveMode receiveMode) {
        checkPacking();
        Objects.checkFromIndexSize(offset, bytes, block.byteSize());
        half.pack(block, offset, bytes, sendMode, receiveMode);
        return this;
    }

    @Override
    public OutgoingMessage packByte(byte value) {
        scratch.set(Blocks.BYTE, 0, value);
        return pack(scratch, 0, Byte.BYTES, SendMode.SAFER, ReceiveMode.EXPRESS);
    }

    @Override
    public OutgoingMessage packInt(int value) {
        scratch.set(Blocks.INT, 0, value);
        return pack(scratch, 0, Integer.BYTES, SendMode.SAFER, ReceiveMode.EXPRESS);
    }

    @Override
    public OutgoingMessage packLong(long value) {
        scratch.set(Blocks.LONG, 0, value);
        return pack(scratch, 0, Long.BYTES, SendMode.SAFER, ReceiveMode.EXPRESS);
    }

    @Override
    public OutgoingMessage within(long timeout, TimeUnit unit) {
        deadlineNs = Deadlines.after(timeout, unit);
        return this;
    }

    @Override
    public void endPacking() {
        if (!open.isUp()) {
            if (ending) {
                completion.throwFailure(); // the end came between a deadline and this second call
                return;
            }
            checkPacking();
        }
        if (ending) {
            half.awaitEnd(this);
            return;
        }
        ending = true;
        endedBy = Thread.currentThread().threadId();
        half.end(this);
    }

    @Override
    public Completion endPackingAsync() {
        checkPacking();
        ending = true;
        asynchronous = true;
        endedBy = Thread.currentThread().threadId();
        half.endAsync();
        return completion;
    }

    @Override
    public void close() {
        if (open.isUp() && !asynchronous) {
            ending = true;
            half.abort(number);
        }
        closed = true; // last: from here on another message may use this object
    }
}
