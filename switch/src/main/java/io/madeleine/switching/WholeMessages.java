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
 * Messages of one block, sent or received by one call. Such a message is known whole, so where one packet carries it and nothing
 * stands in the way the halves move it in one step: to begin, to pack and to end take several times as many instructions as
 * the message itself, for the sake of what may happen between. In all other cases, failures among them, this is begin, pack and
 * end, or begin, unpack and end; the bytes on the wire are the same.
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

    /** Sends a message; a time without a unit is no bound. */
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
            message.boundUntil(deadlineNs);
            message.pack(block, offset, bytes, sendMode, receiveMode);
            end(message);
        }
    }

    /** A message that could not be given up any more when its end was waited for in vain has been sent. */
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

    /** Receives the next message of one peer, or of anyone if that is null; returns the sender's rank. A time without a unit is no bound. */
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
            throw new IllegalArgumentException("receive needs memory it can write, found a read-only block");
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
        } catch (InternalError e) { // memory that was cut short is a lost connection: who begins hears of it
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
            message.boundUntil(deadlineNs);
            message.unpack(block, offset, bytes, sendMode, receiveMode);
            message.endUnpacking();
            return message.remote();
        }
    }

    private IncomingHandle begin(@Nullable SwitchedConnection from, long deadlineNs) {
        return from == null ? arrivals.take(deadlineNs) : arrivals.takeFrom(from, deadlineNs);
    }
}
