package io.madeleine.switching;

import io.madeleine.api.BlockLayout;
import io.madeleine.api.Completion;
import io.madeleine.api.OutgoingMessage;
import io.madeleine.api.ReceiveMode;
import io.madeleine.api.SendMode;
import io.madeleine.pmm.StackRoom;
import io.madeleine.pmm.Waitable;
import io.madeleine.pmm.spi.Blocks;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * An outgoing message as its user holds it.
 *
 * <p>Threading: one thread at a time, as {@link OutgoingMessage} says.
 */
final class OutgoingHandle extends MessageHandle implements OutgoingMessage {
    private final SendHalf half;
    private final Optional<OutgoingMessage> asOptional = Optional.of(this);

    OutgoingHandle(SendHalf half, Waitable changed, MemorySegment scratch) {
        super(half.connection(), new MessageCompletion(half.connection().engine(), changed), scratch);
        this.half = half;
    }

    Optional<OutgoingMessage> asOptional() {
        return asOptional;
    }

    private void checkPacking() {
        StackRoom.ensure();
        checkOpen();
    }

    private void checkOpen() {
        if (!isOpen() || isEnding()) {
            if (!isOpen() && connection().isClosing()) {
                completion().throwFailure(); // no other message can begin
            }
            throw new IllegalStateException(
                    "the message " + connection().fromHere() + " has ended: begin another with beginPacking");
        }
    }

    @Override
    public OutgoingMessage pack(MemorySegment block, SendMode sendMode, ReceiveMode receiveMode) {
        checkPacking();
        require(block, sendMode, receiveMode);
        half.pack(block, 0, block.byteSize(), sendMode, receiveMode);
        return this;
    }

    @Override
    public OutgoingMessage pack(
            MemorySegment block, long offset, long bytes, SendMode sendMode, ReceiveMode receiveMode) {
        checkPacking();
        require(block, sendMode, receiveMode);
        Objects.checkFromIndexSize(offset, bytes, block.byteSize());
        half.pack(block, offset, bytes, sendMode, receiveMode);
        return this;
    }

    @Override
    public OutgoingMessage pack(BlockLayout block, SendMode sendMode, ReceiveMode receiveMode) {
        checkPacking();
        require(block, sendMode, receiveMode);
        switch (block.rangeCount()) {
            case 0 -> half.pack(scratch(), 0, 0, sendMode, receiveMode);
            case 1 -> {
                BlockLayout.Part range = block.part(0);
                half.pack(range.segment(), range.offset(), range.bytes(), sendMode, receiveMode);
            }
            default -> half.pack(block, sendMode, receiveMode);
        }
        return this;
    }

    @Override
    public OutgoingMessage packByte(byte value) {
        scratch().set(Blocks.BYTE, 0, value);
        return pack(scratch(), 0, Byte.BYTES, SendMode.SAFER, ReceiveMode.EXPRESS);
    }

    @Override
    public OutgoingMessage packInt(int value) {
        scratch().set(Blocks.INT, 0, value);
        return pack(scratch(), 0, Integer.BYTES, SendMode.SAFER, ReceiveMode.EXPRESS);
    }

    @Override
    public OutgoingMessage packLong(long value) {
        scratch().set(Blocks.LONG, 0, value);
        return pack(scratch(), 0, Long.BYTES, SendMode.SAFER, ReceiveMode.EXPRESS);
    }

    @Override
    public OutgoingMessage within(long timeout, TimeUnit unit) {
        setDeadline(timeout, unit);
        return this;
    }

    @Override
    public void endPacking() {
        StackRoom.ensure();
        if (isEnding()) { // the message may have ended between a deadline and this second call
            half.awaitEnd(this);
            return;
        }
        checkOpen();
        startEnding();
        half.end(this);
    }

    @Override
    public Completion endPackingAsync() {
        checkPacking();
        startEndingAsync();
        half.endAsync();
        return completion();
    }

    /**
     * Aborts the message after the wait for its end has failed. When this returns, nothing accesses the user's memory.
     * The caller closes the message afterwards.
     *
     * @return whether it was too late: the whole message had left, and it has ended successfully or will
     */
    boolean giveUp() {
        if (isGivenUpByClose()) {
            half.abort(number());
            half.awaitRelease(this);
        }
        return half.hasLeft(this);
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
                half.sendAbort.orphaned = number; // a field access: there may be no stack left for a call
            }
        }
        if (completion().isClosed()) {
            return;
        }
        if (isGivenUpByClose()) {
            startEnding();
            half.abort(number());
            half.awaitRelease(this);
        }
        leaveToNext();
    }
}
