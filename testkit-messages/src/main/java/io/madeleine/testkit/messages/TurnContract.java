package io.madeleine.testkit.messages;

import static io.madeleine.api.ReceiveMode.CHEAPER;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.api.Channel;
import io.madeleine.api.Completion;
import io.madeleine.api.IncomingMessage;
import io.madeleine.api.OutgoingMessage;
import io.madeleine.api.SendMode;
import java.lang.foreign.MemorySegment;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** The contract of turns: a thread that waits to send gets its turn, even if others send without a pause. */
abstract class TurnContract extends SignalContract {
    private static final int BYTES = 200_000;
    private static final int WAITING = 3;
    private static final int LAST = -1;

    /** A chain of messages: the end of each one begins the next, when no other thread can have come between. */
    private final class Chain {
        private final MemorySegment block = block(BYTES);
        private final AtomicBoolean broken = new AtomicBoolean();
        private final AtomicBoolean over = new AtomicBoolean();
        private final AtomicInteger links = new AtomicInteger();

        void next() {
            Optional<OutgoingMessage> begun =
                    over.get() ? Optional.empty() : channel(0).tryBeginPacking(1);
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
    }

    @Test
    void shouldGiveThreadsThatWaitTheirTurnsThoughOthersAreSentWithoutAPause() {
        open(2);
        Chain chain = new Chain();
        AtomicInteger turns = new AtomicInteger();
        chain.next();
        Body waits = () -> {
            try (OutgoingMessage out = channel(0).beginPacking(1, 10, TimeUnit.SECONDS)) {
                out.packInt(0).endPacking(10, TimeUnit.SECONDS);
            } finally {
                chain.over.compareAndSet(false, turns.incrementAndGet() == WAITING);
            }
            chain.goOn();
        };
        together(
                () -> join(start(waits)),
                () -> join(start(waits)),
                () -> join(start(Thread.ofVirtual(), waits)),
                () -> {
                    eventually("the chain is over", () -> chain.over.get() && chain.broken.get());
                    try (OutgoingMessage out = channel(0).beginPacking(1, 20, TimeUnit.SECONDS)) {
                        out.packInt(LAST).endPacking();
                    }
                },
                () -> receiveAll(channel(1)));
        assertTrue(chain.links.get() > 0, "no waiting thread was overtaken");
    }

    private static void receiveAll(Channel channel) {
        MemorySegment block = block(BYTES);
        for (int kind = 0; kind != LAST; ) {
            try (IncomingMessage in = channel.beginUnpacking(20, TimeUnit.SECONDS)) {
                kind = in.unpackInt();
                if (kind == 1) {
                    in.unpack(block, SendMode.CHEAPER, CHEAPER);
                }
                in.endUnpacking();
            }
        }
    }
}
