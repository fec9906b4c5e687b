package io.madeleine.testkit.messages;

import static io.madeleine.api.ReceiveMode.CHEAPER;
import static io.madeleine.testkit.messages.TestBlocks.block;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.api.Channel;
import io.madeleine.api.IncomingMessage;
import io.madeleine.api.SendMode;
import io.madeleine.api.Signal;
import io.madeleine.testkit.Pattern;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** Both handlers of one channel; they check numbers and contents. */
final class ShortMessageHandlers {
    static final int BLOCK_BYTES = 256;
    static final ValueLayout.OfInt NUMBER = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    /** Sizes behind the number with which each message begins: some fit in the block, some do not. */
    private static final int[] SIZES = {0, 1, 8, 100, BLOCK_BYTES - 4, BLOCK_BYTES - 3, 5_000, 0, 70_000};

    private final Channel channel;
    private final MemorySegment block;
    private final int[] next;
    private final AtomicInteger running = new AtomicInteger();
    private final AtomicInteger handled = new AtomicInteger();
    private final AtomicInteger shortOnes = new AtomicInteger();
    private final ConcurrentLinkedQueue<Throwable> failures = new ConcurrentLinkedQueue<>();

    ShortMessageHandlers(Channel channel, MemorySegment block) {
        this.channel = channel;
        this.block = block;
        this.next = new int[channel.session().size()];
        channel.onMessage(this::any, block, this::ofShort);
    }

    /** How many bytes a message of this number has behind the number. */
    static int bytesBehind(int number) {
        return SIZES[number % SIZES.length];
    }

    int handled() {
        return handled.get();
    }

    int shortOnes() {
        return shortOnes.get();
    }

    private void ofShort(int remote, long bytes) {
        within(() -> {
            shortOnes.incrementAndGet();
            int number = block.get(NUMBER, 0);
            expect(remote, number);
            assertEquals(4L + bytesBehind(number), bytes);
            Pattern.check(number, block.asSlice(4, bytes - 4));
        });
    }

    private void any(IncomingMessage message) {
        within(() -> {
            try (message) {
                int number = message.unpackInt();
                expect(message.remote(), number);
                int bytes = bytesBehind(number);
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
