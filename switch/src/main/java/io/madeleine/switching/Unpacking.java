package io.madeleine.switching;

import io.madeleine.api.BlockLayout;
import io.madeleine.api.DeadlineExceededException;
import io.madeleine.api.ReceiveMode;
import io.madeleine.api.SendMode;
import io.madeleine.api.WaitInterruptedException;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * The unpack and end calls of the user of an incoming message: they ask the {@link ReceiveHalf} for blocks and for the
 * end, and wait. A call whose wait ends early may be repeated and then continues.
 *
 * <p>Threading: confined to the thread that uses the message.
 */
final class Unpacking {
    private final ReceiveHalf half;
    private final Extraction extraction;
    private final SelectionTable table;
    private final @Nullable SelfDescription selfDescription;

    Unpacking(
            ReceiveHalf half, Extraction extraction, SelectionTable table, @Nullable SelfDescription selfDescription) {
        this.half = half;
        this.extraction = extraction;
        this.table = table;
        this.selfDescription = selfDescription;
    }

    /** Asks for a block, and waits for its data if it is EXPRESS. */
    void unpack(
            IncomingHandle using, MemorySegment block, long offset, long bytes, SendMode send, ReceiveMode receive) {
        UnfinishedUnpack before = using.takeUnfinished(block, offset, bytes, send, receive);
        boolean described = before != null && before.described();
        boolean express = receive == ReceiveMode.EXPRESS;
        int link = table.select(bytes, send, receive);
        try {
            if (selfDescription != null && !described) {
                awaitDescription(using, selfDescription, before, bytes, send, receive);
            }
            boolean there = bytes == 0 || !express;
            if (!described) {
                described = true;
                extraction.countBlock();
                if (bytes > 0) {
                    there |= half.append(using, link, block, offset, bytes, express);
                }
            }
            if (!there) {
                awaitExpress(using);
            }
        } catch (DeadlineExceededException | WaitInterruptedException e) {
            using.remember(new UnfinishedUnpack(BlockLayout.of(block, offset, bytes), send, receive, described));
            throw e;
        }
        using.completion().throwFailure();
    }

    /** As above, for a block that lies in the ranges of a layout. */
    void unpack(IncomingHandle using, BlockLayout block, SendMode send, ReceiveMode receive) {
        if (block.rangeCount() <= 1) {
            unpackRange(using, block, send, receive);
            return;
        }
        UnfinishedUnpack before = using.takeUnfinished(block, send, receive);
        boolean described = before != null && before.described();
        boolean express = receive == ReceiveMode.EXPRESS;
        int link = table.select(block.byteSize(), send, receive);
        try {
            if (selfDescription != null && !described) {
                awaitDescription(using, selfDescription, before, block.byteSize(), send, receive);
            }
            boolean there = !express;
            if (!described) {
                described = true;
                extraction.countBlock();
                there |= half.append(using, link, block, express);
            }
            if (!there) {
                awaitExpress(using);
            }
        } catch (DeadlineExceededException | WaitInterruptedException e) {
            using.remember(new UnfinishedUnpack(block, send, receive, described));
            throw e;
        }
        using.completion().throwFailure();
    }

    private void unpackRange(IncomingHandle using, BlockLayout block, SendMode send, ReceiveMode receive) {
        if (block.rangeCount() == 0) {
            unpack(using, using.scratch(), 0, 0, send, receive);
        } else {
            BlockLayout.Part range = block.part(0);
            unpack(using, range.segment(), range.offset(), range.bytes(), send, receive);
        }
    }

    private void awaitDescription(
            IncomingHandle using,
            SelfDescription described,
            @Nullable UnfinishedUnpack before,
            long bytes,
            SendMode send,
            ReceiveMode receive) {
        if (before == null) {
            int link = table.select(bytes, send, receive);
            described.expect(bytes, extraction.blockCount(), send, receive, link);
            half.append(using, 0, described.found(), 0, BlockDescriptor.BYTES, true);
        }
        awaitExpress(using);
        checkDescription(using, described);
    }

    private void checkDescription(IncomingHandle using, SelfDescription described) {
        using.completion().throwFailure();
        if (!described.isAsExpected()) {
            half.failNow(using, MessageFailures.notMirrored(half.connection(), described.difference()));
        }
    }

    private void awaitExpress(IncomingHandle using) {
        if (!half.await(using, using.isCheckedOut())) {
            throw deadlineExceeded("unpack");
        }
    }

    private DeadlineExceededException deadlineExceeded(String call) {
        ConnectionContext connection = half.connection();
        return new DeadlineExceededException(call + " of the message " + connection.toHere()
                + " did not finish before its deadline: " + extraction.missing() + "; rank " + connection.rank()
                + " has to pack and end its message, or set a later deadline");
    }

    /** Waits until all blocks are filled and the message has ended. */
    void end(IncomingHandle ending) {
        UnfinishedUnpack left = ending.takeUnfinished();
        if (left != null && !left.described()) {
            ending.remember(left);
            unpack(ending, left.block(), left.send(), left.receive());
        }
        if (!half.startEnd(ending, false) && !half.await(ending, ending.hasEnded())) {
            throw deadlineExceeded("endUnpacking");
        }
        ending.completion().throwFailure();
    }

    /** Asks for the end and leaves the rest to the threads that poll. */
    void endAsync(IncomingHandle ending) {
        UnfinishedUnpack left = ending.takeUnfinished();
        try {
            if (left != null && !left.described()) {
                int link = table.select(left.bytes(), left.send(), left.receive());
                half.appendOnceDescribed(ending, link, left.block());
            }
            half.startEnd(ending, true);
        } catch (IllegalStateException e) { // only this thread may fill a block: it may still call endUnpacking
            if (left != null) {
                ending.remember(left);
            }
            throw e;
        }
    }
}
