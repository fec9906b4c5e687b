package io.madeleine.testkit.messages;

import static io.madeleine.api.ReceiveMode.CHEAPER;
import static io.madeleine.api.ReceiveMode.EXPRESS;
import static io.madeleine.testkit.messages.TestBlocks.block;
import static io.madeleine.testkit.messages.TestThreads.eventually;
import static io.madeleine.testkit.messages.TestThreads.together;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.api.Channel;
import io.madeleine.api.OutgoingMessage;
import io.madeleine.api.SendMode;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/**
 * The contract of handlers that take short messages as bytes: both handlers together see each message once, whole, in
 * its sender's order, one at a time.
 */
public interface ShortMessagesContract extends MessageFixture {
    int COUNT = 2_000;

    private void sendNumbered(int from, int to, int number) {
        int bytes = ShortMessageHandlers.bytesBehind(number);
        if (bytes == 0) {
            MemorySegment one = block(Integer.BYTES);
            one.set(ShortMessageHandlers.NUMBER, 0, number);
            channel(from).send(to, one, SendMode.SAFER, EXPRESS);
            return;
        }
        try (OutgoingMessage out = channel(from).beginPacking(to, 20, TimeUnit.SECONDS)) {
            out.packInt(number);
            out.pack(block(number, bytes), SendMode.CHEAPER, CHEAPER);
            out.endPacking(20, TimeUnit.SECONDS);
        }
    }

    @Test
    default void shouldHandOverShortMessagesAsBytesAndTheOthersAsMessages() {
        open(3);
        ShortMessageHandlers taking = new ShortMessageHandlers(channel(0), block(ShortMessageHandlers.BLOCK_BYTES));
        together(
                () -> {
                    for (int i = 0; i < COUNT; i++) {
                        sendNumbered(1, 0, i);
                    }
                },
                () -> {
                    for (int i = 0; i < COUNT; i++) {
                        sendNumbered(2, 0, i);
                    }
                },
                () -> taking.await(2 * COUNT));
        if (setup().selfDescribed()) {
            assertEquals(0, taking.shortOnes(), "messages with descriptors that came as bytes");
        } else if (setup().beginsWithStaticBuffers()) {
            assertTrue(taking.shortOnes() > COUNT / 10, () -> taking.shortOnes() + " messages came as bytes");
        }
    }

    @Test
    default void shouldHandOverShortMessagesThoughNoThreadWaits() {
        open(2);
        ShortMessageHandlers taking = new ShortMessageHandlers(channel(1), block(ShortMessageHandlers.BLOCK_BYTES));
        for (int i = 0; i < 100; i++) {
            sendNumbered(0, 1, i);
        }
        eventually("all are handled", () -> taking.handled() == 100);
        taking.await(100);
    }

    @Test
    default void shouldHandOverMessagesWhoseBlockForShortOnesIsFreed() {
        open(2);
        Arena arena = Arena.ofShared();
        ShortMessageHandlers taking =
                new ShortMessageHandlers(channel(1), arena.allocate(ShortMessageHandlers.BLOCK_BYTES));
        for (int i = 0; i < 20; i++) {
            sendNumbered(0, 1, i);
        }
        taking.await(20);
        arena.close();
        for (int i = 20; i < 40; i++) {
            sendNumbered(0, 1, i);
        }
        taking.await(40);
    }

    @Test
    default void shouldGoOnAfterAHandlerOfShortMessagesHasFailed() {
        open(2);
        AtomicInteger sum = new AtomicInteger();
        MemorySegment block = block(ShortMessageHandlers.BLOCK_BYTES);
        channel(1)
                .onMessage(
                        message -> {
                            try (message) {
                                sum.addAndGet(message.unpackInt());
                            }
                        },
                        block,
                        (_, _) -> {
                            int number = block.get(ShortMessageHandlers.NUMBER, 0);
                            sum.addAndGet(number);
                            if (number % 3 == 0) {
                                throw new StackOverflowError("as a test");
                            }
                        });
        for (int i = 1; i <= 50; i++) {
            try (OutgoingMessage out = channel(0).beginPacking(1, 20, TimeUnit.SECONDS)) {
                out.packInt(i);
                out.endPacking(20, TimeUnit.SECONDS);
            }
        }
        eventually("all are handled", () -> sum.get() == 50 * 51 / 2);
    }

    @Test
    default void shouldRefuseABlockForShortMessagesThatNotAllThreadsMayWrite() {
        open(2);
        Channel channel = channel(0);
        MemorySegment readOnly = block(8).asReadOnly();
        assertThrows(IllegalArgumentException.class, () -> channel.onMessage(_ -> {}, readOnly, (_, _) -> {}));
        try (Arena confined = Arena.ofConfined()) {
            MemorySegment block = confined.allocate(8);
            assertThrows(IllegalArgumentException.class, () -> channel.onMessage(_ -> {}, block, (_, _) -> {}));
        }
    }
}
