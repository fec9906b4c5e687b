package io.madeleine.am;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigFactory;
import io.madeleine.api.Channel;
import io.madeleine.api.Completion;
import io.madeleine.api.IncomingMessage;
import io.madeleine.api.OutgoingMessage;
import io.madeleine.api.ReceiveMode;
import io.madeleine.api.SendMode;
import io.madeleine.testkit.messages.LocalSessions;
import io.madeleine.tm.sci.SciConfig;
import io.madeleine.tm.sci.SciPmm;
import io.madeleine.tm.tcp.TcpPmm;
import io.madeleine.tm.tcp.config.TcpConfig;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A small protocol of its own: a handler answers each message with one, on a way that a thread beside it keeps busy.
 */
@Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class RepliesTest {
    private static final int COUNT = 100_000;
    private static final int NO_REPLY = -1;

    private final AtomicInteger next = new AtomicInteger();
    private final AtomicInteger misplaced = new AtomicInteger();
    private final AtomicInteger queued = new AtomicInteger();
    private final AtomicBoolean over = new AtomicBoolean();
    private final AtomicReference<Throwable> failure = new AtomicReference<>();
    private final HandlerRunner handlers = new HandlerRunner(failure::set);

    private final class Reply implements QueuedMessage {
        private final int number;

        Reply(int number) {
            this.number = number;
        }

        @Override
        public long bytes() {
            return Integer.BYTES;
        }

        @Override
        public void pack(OutgoingMessage message) {
            message.packInt(number);
        }

        @Override
        public void sent(Completion completion) {}

        @Override
        public void failed(RuntimeException why) {
            failure.set(why);
        }

        @Override
        public void lost() {
            failure.set(new IllegalStateException("lost"));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"sci", "tcp"})
    void shouldDeliverAllThatHandlersReplyOnABusyWayInOrder(String network, @TempDir Path directory) throws Exception {
        Config config = ConfigFactory.parseString("madeleine.tm.sci.directory = \"" + directory + "\"")
                .withFallback(ConfigFactory.load());
        LocalSessions.Builder builder = LocalSessions.of(2);
        builder = network.equals("sci")
                ? builder.network("sci", _ -> new SciPmm(SciConfig.from(config)))
                : builder.network("tcp", _ -> new TcpPmm(TcpConfig.from(config)));
        try (LocalSessions sessions = builder.open()) {
            Channel here = sessions.channel(0);
            Channel there = sessions.channel(1);
            SendQueue queue = new SendQueue(here, 1, 4L * COUNT, () -> {}, why -> failure.set(new Exception(why)));
            here.onMessage(message -> handle(() -> reply(here, queue, take(message))));
            there.onMessage(message -> check(take(message)));

            Thread keepsBusy = Thread.ofPlatform().start(() -> {
                while (!over.get()) {
                    Runnable sending = () -> here.send(
                            1, MemorySegment.ofArray(new int[] {NO_REPLY}), SendMode.SAFER, ReceiveMode.EXPRESS);
                    if (queue.isEmpty()) {
                        sending.run();
                    } else {
                        queue.inTurn(Long.MAX_VALUE, sending);
                    }
                }
            });
            for (int i = 0; i < COUNT; i++) {
                there.send(0, MemorySegment.ofArray(new int[] {i}), SendMode.SAFER, ReceiveMode.EXPRESS);
            }
            while (next.get() < COUNT && failure.get() == null) {
                LockSupport.parkNanos(500_000);
            }
            over.set(true);
            keepsBusy.join();
            assertTrue(queue.isEmpty());
            assertEquals(0, queue.bytes());
        }
        assertEquals(null, failure.get());
        assertEquals(0, misplaced.get());
        assertTrue(queued.get() > 0, "nothing was queued: the way was not busy");
    }

    /** Runs it as a handler, though the networks may be driven by several threads in turn. */
    private void handle(Runnable handler) {
        if (!handlers.tryEnter()) {
            handlers.post(handler);
            return;
        }
        try {
            handlers.runPosted();
            handler.run();
        } finally {
            handlers.leave();
        }
    }

    /** Sends at once what can go, and never waits. */
    private void reply(Channel channel, SendQueue queue, int number) {
        Optional<OutgoingMessage> begun = queue.isEmpty() ? channel.tryBeginPacking(1) : Optional.empty();
        if (begun.isEmpty()) {
            queued.incrementAndGet();
            assertTrue(queue.claim(Integer.BYTES));
            queue.add(new Reply(number));
            return;
        }
        try (OutgoingMessage message = begun.get()) {
            new Reply(number).pack(message);
            message.endPackingAsync();
        }
    }

    private void check(int number) {
        if (number != NO_REPLY && number != next.getAndIncrement()) {
            misplaced.incrementAndGet();
        }
    }

    private static int take(IncomingMessage message) {
        try (message) {
            int number = message.unpackInt();
            message.endUnpacking();
            return number;
        }
    }
}
