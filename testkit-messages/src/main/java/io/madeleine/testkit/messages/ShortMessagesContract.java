package io.madeleine.testkit.messages;

import static io.madeleine.api.ReceiveMode.CHEAPER;
import static io.madeleine.api.ReceiveMode.EXPRESS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.api.Channel;
import io.madeleine.api.IncomingMessage;
import io.madeleine.api.OutgoingMessage;
import io.madeleine.api.SendMode;
import io.madeleine.api.Signal;
import io.madeleine.testkit.Pattern;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/**
 * The contract of handlers that take short messages as bytes: both handlers together see each message once, whole, in
 * its sender's order, one at a time.
 */
abstract class ShortMessagesContract extends HandlersContract {
    private static final int BLOCK_BYTES = 256;
    private static final int COUNT = 2_000;
    private static final ValueLayout.OfInt NUMBER = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    /** Sizes behind the number with which each message begins: some fit in the block, some do not. */
    private static final int[] SIZES = {0, 1, 8, 100, BLOCK_BYTES - 4, BLOCK_BYTES - 3, 5_000, 0, 70_000};

    /** Both handlers of one channel; they check numbers and contents. */
    private static final class Taking {
        private final Channel channel;
        private final MemorySegment block;
        private final int[] next;
        private final AtomicInteger running = new AtomicInteger();
        private final AtomicInteger handled = new AtomicInteger();
        private final AtomicInteger shortOnes = new AtomicInteger();
        private final ConcurrentLinkedQueue<Throwable> failures = new ConcurrentLinkedQueue<>();

        Taking(Channel channel, MemorySegment block) {
            this.channel = channel;
            this.block = block;
            this.next = new int[channel.session().size()];
            channel.onMessage(this::any, block, this::ofShort);
        }

        private void ofShort(int remote, long bytes) {
            within(() -> {
                shortOnes.incrementAndGet();
                int number = block.get(NUMBER, 0);
                expect(remote, number);
                assertEquals(4L + SIZES[number % SIZES.length], bytes);
                Pattern.check(number, block.asSlice(4, bytes - 4));
            });
        }

        private void any(IncomingMessage message) {
            within(() -> {
                try (message) {
                    int number = message.unpackInt();
                    expect(message.remote(), number);
                    int bytes = SIZES[number % SIZES.length];
                    MemorySegment body = block(bytes);
                    if (bytes > 0) {
                        message.unpack(body, SendMode.CHEAPER, CHEAPER);
                    }
                    message.endUnpacking();
                    Pattern.check(number, body);
                }
            });
        }

        private void expect(int remote, int number) {
            assertEquals(next[remote]++, number, "the number of the next message from rank " + remote);
        }

        private void within(Runnable body) {
            try {
                assertEquals(1, running.incrementAndGet(), "handlers at a time");
                body.run();
            } catch (Throwable e) {
                failures.add(e);
            } finally {
                running.decrementAndGet();
                handled.incrementAndGet();
            }
        }

        void await(int count) {
            Signal signal = channel.newSignal();
            boolean all = signal.await(() -> handled.get() >= count || !failures.isEmpty(), 60, TimeUnit.SECONDS);
            assertEquals(List.of(), List.copyOf(failures));
            assertTrue(all, () -> handled + " of " + count + " messages were handled");
        }
    }

    private void send(int from, int to, int number) {
        int bytes = SIZES[number % SIZES.length];
        if (bytes == 0) {
            MemorySegment one = block(Integer.BYTES);
            one.set(NUMBER, 0, number);
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
    void shouldHandOverShortMessagesAsBytesAndTheOthersAsMessages() {
        open(3);
        Taking taking = new Taking(channel(0), block(BLOCK_BYTES));
        together(
                () -> {
                    for (int i = 0; i < COUNT; i++) {
                        send(1, 0, i);
                    }
                },
                () -> {
                    for (int i = 0; i < COUNT; i++) {
                        send(2, 0, i);
                    }
                },
                () -> taking.await(2 * COUNT));
        if (setup.selfDescribed()) {
            assertEquals(0, taking.shortOnes.get(), "messages with descriptors that came as bytes");
        } else if (setup.beginsWithStaticBuffers()) {
            assertTrue(taking.shortOnes.get() > COUNT / 10, () -> taking.shortOnes + " messages came as bytes");
        }
    }

    @Test
    void shouldHandOverShortMessagesThoughNoThreadWaits() {
        open(2);
        Taking taking = new Taking(channel(1), block(BLOCK_BYTES));
        for (int i = 0; i < 100; i++) {
            send(0, 1, i);
        }
        eventually("all are handled", () -> taking.handled.get() == 100);
        taking.await(100);
    }

    @Test
    void shouldHandOverMessagesWhoseBlockForShortOnesIsFreed() {
        open(2);
        Arena arena = Arena.ofShared();
        Taking taking = new Taking(channel(1), arena.allocate(BLOCK_BYTES));
        for (int i = 0; i < 20; i++) {
            send(0, 1, i);
        }
        taking.await(20);
        arena.close();
        for (int i = 20; i < 40; i++) {
            send(0, 1, i);
        }
        taking.await(40);
    }

    @Test
    void shouldGoOnAfterAHandlerOfShortMessagesHasFailed() {
        open(2);
        AtomicInteger sum = new AtomicInteger();
        MemorySegment block = block(BLOCK_BYTES);
        channel(1)
                .onMessage(
                        message -> {
                            try (message) {
                                sum.addAndGet(message.unpackInt());
                            }
                        },
                        block,
                        (_, _) -> {
                            int number = block.get(NUMBER, 0);
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
    void shouldRefuseABlockForShortMessagesThatNotAllThreadsMayWrite() {
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
