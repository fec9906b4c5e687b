package io.madeleine.nexus;

import static io.madeleine.api.ReceiveMode.CHEAPER;
import static io.madeleine.api.ReceiveMode.EXPRESS;

import io.madeleine.api.IncomingMessage;
import io.madeleine.api.SendMode;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The large arguments of a request that came as a message: they go straight from the network to where they are asked into. The
 * message stays open until the last has been taken or the request is over.
 *
 * <p>Threading: confined to the handler's thread.
 */
final class MessageBulks implements BulkSource {
    private final long timeoutNs;
    private @Nullable IncomingMessage message;
    private int left;

    /** None yet; the wait for one of them may take so long. */
    MessageBulks(long timeoutNs) {
        this.timeoutNs = timeoutNs;
    }

    /** So many blocks of a message are large arguments. Ownership: the message is this object's until {@link #close}. */
    void begin(IncomingMessage open, int count) {
        message = open;
        left = count;
    }

    @Override
    public void take(MemorySegment target, long offset, long bytes) {
        IncomingMessage open = message;
        if (open == null) {
            throw new IllegalStateException("the request is over: its handler has returned");
        }
        boolean isLast = --left == 0;
        open.within(timeoutNs, TimeUnit.NANOSECONDS);
        open.unpack(target, offset, bytes, SendMode.CHEAPER, isLast ? CHEAPER : EXPRESS);
        if (isLast) {
            open.endUnpacking();
            close();
        }
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
        MessageBulks detached = new MessageBulks(timeoutNs);
        detached.message = message;
        detached.left = left;
        message = null;
        return detached;
    }
}
