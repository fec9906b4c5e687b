package io.madeleine.testkit.messages;

import static io.madeleine.api.ReceiveMode.CHEAPER;
import static io.madeleine.testkit.messages.TestBlocks.block;
import static io.madeleine.testkit.messages.TestThreads.eventually;
import static io.madeleine.testkit.messages.TestThreads.join;
import static io.madeleine.testkit.messages.TestThreads.start;
import static io.madeleine.testkit.messages.TestThreads.together;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.api.Channel;
import io.madeleine.api.IncomingMessage;
import io.madeleine.api.OutgoingMessage;
import io.madeleine.api.SendMode;
import io.madeleine.testkit.messages.TestThreads.Body;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** The contract of turns: a thread that waits to send gets its turn, even if others send without a pause. */
public interface TurnContract extends MessageFixture {
    int BYTES = 200_000;
    int WAITING = 3;
    int LAST = -1;

    @Test
    default void shouldGiveThreadsThatWaitTheirTurnsThoughOthersAreSentWithoutAPause() {
        open(2);
        MessageChain chain = new MessageChain(channel(0), BYTES);
        AtomicInteger turns = new AtomicInteger();
        chain.next();
        Body waits = () -> {
            try (OutgoingMessage out = channel(0).beginPacking(1, 10, TimeUnit.SECONDS)) {
                out.packInt(0).endPacking(10, TimeUnit.SECONDS);
            } finally {
                if (turns.incrementAndGet() == WAITING) {
                    chain.end();
                }
            }
            chain.goOn();
        };
        together(
                () -> join(start(waits)),
                () -> join(start(waits)),
                () -> join(start(Thread.ofVirtual(), waits)),
                () -> {
                    eventually("the chain is over", chain::isOver);
                    try (OutgoingMessage out = channel(0).beginPacking(1, 20, TimeUnit.SECONDS)) {
                        out.packInt(LAST).endPacking();
                    }
                },
                () -> receiveAll(channel(1)));
        assertTrue(chain.links() > 0, "no waiting thread was overtaken");
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
