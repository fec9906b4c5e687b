package io.madeleine.nexus.wire;

import static io.madeleine.api.ReceiveMode.CHEAPER;
import static io.madeleine.api.ReceiveMode.EXPRESS;

import io.madeleine.api.IncomingMessage;
import io.madeleine.api.SendMode;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The large arguments of a request that came as a message: each is received straight into the memory that its taker
 * supplies. The message stays open until the last has been taken or the request ends.
 *
 * <p>Threading: confined to the handler's thread.
 */
public final class MessageBulks implements BulkSource {
    private final long timeoutNs;
    private final BulkLengths lengths;
    private @Nullable IncomingMessage message;
    private int taken;

    /** Creates an empty source; {@code timeoutNs} bounds the wait for each argument. */
    public MessageBulks(long timeoutNs, BulkLengths lengths) {
        this.timeoutNs = timeoutNs;
        this.lengths = lengths;
    }

    /**
     * Begins with a message whose rest consists of large arguments.
     *
     * <p>Ownership: the message is this object's until {@link #close}.
     */
    public void begin(IncomingMessage open) {
        message = open;
        taken = 0;
    }

    @Override
    public void take(MemorySegment target, long offset, long bytes) {
        IncomingMessage open = message;
        if (open == null) {
            throw new IllegalStateException("the request is over: its handler has returned");
        }
        boolean isLast = taken == lengths.count() - 1;
        open.within(timeoutNs, TimeUnit.NANOSECONDS);
        open.unpack(target, offset, bytes, SendMode.CHEAPER, isLast ? CHEAPER : EXPRESS);
        taken++;
        if (isLast) {
            open.endUnpacking();
            close();
        }
    }

    @Override
    public long awaitedBytes() {
        return message == null ? 0 : lengths.sum(taken);
    }

    @Override
    public BulkSource receiveAll() {
        MemorySegment[] blocks = new MemorySegment[lengths.count() - taken];
        for (int i = 0; i < blocks.length; i++) {
            blocks[i] = MemorySegment.ofArray(new byte[(int) lengths.get(taken)]);
            take(blocks[i], 0, blocks[i].byteSize());
        }
        return new Present(blocks);
    }

    @Override
    public void close() {
        IncomingMessage open = message;
        if (open != null) {
            message = null;
            open.close();
        }
    }

    @Override
    public MessageBulks detach() {
        MessageBulks detached = new MessageBulks(timeoutNs, lengths.copy());
        detached.message = message;
        detached.taken = taken;
        message = null;
        return detached;
    }
}
