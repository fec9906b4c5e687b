package io.madeleine.switching;

import io.madeleine.api.DeadlineExceededException;
import io.madeleine.api.ReceiveMode;
import io.madeleine.api.SendMode;
import io.madeleine.api.WaitInterruptedException;
import io.madeleine.pmm.Deadlines;
import io.madeleine.pmm.ProgressEngine;
import io.madeleine.pmm.StackRoom;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Sends and receives messages of one block with one call. The whole message is known at once, so if one packet carries
 * it and nothing is in the way, each half moves it in one step. To begin, pack and end separately takes several times
 * as many instructions, because other things may happen in between. In all other cases, failures included, the call
 * does begin, pack and end, or begin, unpack and end. The bytes on the wire are the same.
 *
 * <p>Threading: thread-safe.
 */
final class WholeMessages {
    private final Arrivals arrivals;
    private final ProgressEngine engine;

    WholeMessages(SwitchedChannel channel) {
        this.arrivals = channel.arrivals();
        this.engine = channel.engine();
    }

    /** Sends a message; without a unit, the timeout is unbounded. */
    void send(
            SendHalf sending,
            MemorySegment block,
            long offset,
            long bytes,
            SendMode sendMode,
            ReceiveMode receiveMode,
            long timeout,
            @Nullable TimeUnit unit) {
        StackRoom.ensureToMove();
        MessageHandle.require(block, sendMode, receiveMode);
        Objects.checkFromIndexSize(offset, bytes, block.byteSize());
        if (!sending.sendWhole(block, offset, bytes, sendMode, receiveMode)) {
            sendInSteps(sending, block, offset, bytes, sendMode, receiveMode, deadlineNs(timeout, unit));
        }
    }

    /** Sends a message if it can leave in one step; returns whether it has left. */
    boolean trySend(
            SendHalf sending,
            MemorySegment block,
            long offset,
            long bytes,
            SendMode sendMode,
            ReceiveMode receiveMode) {
        StackRoom.ensureToMove();
        MessageHandle.require(block, sendMode, receiveMode);
        Objects.checkFromIndexSize(offset, bytes, block.byteSize());
        if (sending.sendWhole(block, offset, bytes, sendMode, receiveMode)) {
            return true;
        }
        sending.throwIfLost();
        return false;
    }

    /** Sends a message of a header and a body, one behind the other, if it can leave in one step. */
    boolean trySend(
            SendHalf sending,
            MemorySegment blocks,
            long offset,
            long headerBytes,
            long bodyBytes,
            SendMode sendMode,
            ReceiveMode receiveMode) {
        StackRoom.ensureToMove();
        MessageHandle.require(blocks, sendMode, receiveMode);
        Objects.checkFromIndexSize(offset, headerBytes, blocks.byteSize());
        Objects.checkFromIndexSize(offset + headerBytes, bodyBytes, blocks.byteSize());
        if (sending.sendTogether(blocks, offset, headerBytes, bodyBytes, sendMode, receiveMode)) {
            return true;
        }
        sending.throwIfLost();
        return false;
    }

    private static long deadlineNs(long timeout, @Nullable TimeUnit unit) {
        return unit == null ? ProgressEngine.NO_DEADLINE : Deadlines.after(timeout, unit);
    }

    private static void sendInSteps(
            SendHalf sending,
            MemorySegment block,
            long offset,
            long bytes,
            SendMode sendMode,
            ReceiveMode receiveMode,
            long deadlineNs) {
        StackRoom.ensureForSeveral();
        try (OutgoingHandle message = sending.begin(deadlineNs)) {
            message.setDeadlineNs(deadlineNs);
            message.pack(block, offset, bytes, sendMode, receiveMode);
            end(message);
        }
    }

    /** Ends the message. If the wait for the end fails but the message can no longer be aborted, it counts as sent. */
    private static void end(OutgoingHandle message) {
        try {
            message.endPacking();
        } catch (DeadlineExceededException | OutOfMemoryError e) {
            if (!message.giveUp()) {
                throw e;
            }
        } catch (WaitInterruptedException e) {
            if (!message.giveUp()) {
                throw e;
            }
            Thread.currentThread().interrupt(); // for the next wait
        }
    }

    /**
     * Receives the next message of one peer, or of any peer if {@code from} is null; without a unit, the timeout is
     * unbounded.
     *
     * @return the sender's rank
     */
    int receive(
            @Nullable SwitchedConnection from,
            MemorySegment block,
            long offset,
            long bytes,
            SendMode sendMode,
            ReceiveMode receiveMode,
            long timeout,
            @Nullable TimeUnit unit) {
        StackRoom.ensureToMove();
        MessageHandle.require(block, sendMode, receiveMode);
        Objects.checkFromIndexSize(offset, bytes, block.byteSize());
        if (block.isReadOnly()) {
            throw new IllegalArgumentException("receive into a read-only block; expected writable memory");
        }
        SwitchedConnection sender = takeWhole(from, block, offset, bytes, sendMode, receiveMode);
        return sender != null
                ? sender.rank()
                : receiveInSteps(from, block, offset, bytes, sendMode, receiveMode, deadlineNs(timeout, unit));
    }

    private @Nullable SwitchedConnection takeWhole(
            @Nullable SwitchedConnection from,
            MemorySegment block,
            long offset,
            long bytes,
            SendMode sendMode,
            ReceiveMode receiveMode) {
        try {
            return arrivals.takeWhole(from, block, offset, bytes, sendMode, receiveMode);
        } catch (InternalError e) { // truncated shared memory means a lost connection: the next begin reports it
            if (!engine.recover(e)) {
                throw e;
            }
            return null;
        }
    }

    private int receiveInSteps(
            @Nullable SwitchedConnection from,
            MemorySegment block,
            long offset,
            long bytes,
            SendMode sendMode,
            ReceiveMode receiveMode,
            long deadlineNs) {
        StackRoom.ensureForSeveral();
        try (IncomingHandle message = begin(from, deadlineNs)) {
            message.setDeadlineNs(deadlineNs);
            message.unpack(block, offset, bytes, sendMode, receiveMode);
            message.endUnpacking();
            return message.remote();
        }
    }

    private IncomingHandle begin(@Nullable SwitchedConnection from, long deadlineNs) {
        return from == null ? arrivals.take(deadlineNs) : arrivals.takeFrom(from, deadlineNs);
    }
}
