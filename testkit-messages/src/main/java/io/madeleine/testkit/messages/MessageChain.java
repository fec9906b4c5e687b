package io.madeleine.testkit.messages;

import static io.madeleine.api.ReceiveMode.CHEAPER;
import static io.madeleine.testkit.messages.TestBlocks.block;

import io.madeleine.api.Channel;
import io.madeleine.api.Completion;
import io.madeleine.api.OutgoingMessage;
import io.madeleine.api.SendMode;
import java.lang.foreign.MemorySegment;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/** A chain of messages: the end of each one begins the next, when no other thread can have come between. */
final class MessageChain {
    private final Channel channel;
    private final MemorySegment block;
    private final AtomicBoolean broken = new AtomicBoolean();
    private final AtomicBoolean over = new AtomicBoolean();
    private final AtomicInteger links = new AtomicInteger();

    MessageChain(Channel channel, int bytes) {
        this.channel = channel;
        this.block = block(bytes);
    }

    void next() {
        Optional<OutgoingMessage> begun = over.get() ? Optional.empty() : channel.tryBeginPacking(1);
        if (begun.isEmpty()) {
            broken.set(true);
            return;
        }
        links.incrementAndGet();
        OutgoingMessage out = begun.get();
        out.packInt(1).pack(block, SendMode.CHEAPER, CHEAPER);
        Completion sent = out.endPackingAsync();
        sent.onDone(this::next);
        out.close();
    }

    /**
     * Restarts the chain; called by a thread that has had its turn, so that the other threads are overtaken, too.
     */
    void goOn() {
        if (broken.compareAndSet(true, false)) {
            next();
        }
    }

    /** Lets the message that is under way be the last one. */
    void end() {
        over.set(true);
    }

    boolean isOver() {
        return over.get() && broken.get();
    }

    int links() {
        return links.get();
    }
}
