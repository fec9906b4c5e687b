package io.madeleine.testkit.messages;

import static io.madeleine.api.ReceiveMode.CHEAPER;
import static io.madeleine.api.ReceiveMode.EXPRESS;
import static io.madeleine.testkit.messages.TestBlocks.block;
import static io.madeleine.testkit.messages.TestBlocks.receive;
import static io.madeleine.testkit.messages.TestBlocks.send;
import static io.madeleine.testkit.messages.TestThreads.assertSays;
import static io.madeleine.testkit.messages.TestThreads.eventually;
import static io.madeleine.testkit.messages.TestThreads.join;
import static io.madeleine.testkit.messages.TestThreads.pause;
import static io.madeleine.testkit.messages.TestThreads.start;
import static io.madeleine.testkit.messages.TestThreads.together;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.api.Channel;
import io.madeleine.api.Completion;
import io.madeleine.api.IncomingMessage;
import io.madeleine.api.OutgoingMessage;
import io.madeleine.api.SendMode;
import io.madeleine.api.Session;
import io.madeleine.api.Signal;
import io.madeleine.api.WaitInterruptedException;
import io.madeleine.pmm.WaitMode;
import io.madeleine.pmm.WaitPolicy;
import io.madeleine.testkit.Pattern;
import io.madeleine.testkit.messages.TestThreads.Body;
import java.io.IOException;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;

/**
 * The contract of handlers: they never nest, wait for nothing but their own messages, and do no damage when they fail.
 */
public interface HandlersContract extends MessageFixture {
    int COUNT = 3_000;

    @Test
    default void shouldNotNestHandlersThatLookForMore() {
        open(2);
        Channel channel = channel(1);
        Session session = channel.session();
        HandlerCalls calls = new HandlerCalls();
        try (OutgoingMessage blocked = channel.beginPacking(0)) { // makes tryBeginPacking poll
            channel.onMessage(message -> calls.within(() -> {
                try (message) {
                    assertEquals(calls.next.get(), message.unpackInt());
                    message.endUnpacking();
                }
                calls.next.incrementAndGet();
                assertTrue(channel.tryBeginPacking(0).isEmpty());
                session.progress();
            }));
            for (int i = 0; i < COUNT; i++) {
                sendInt(i);
            }
            calls.check(COUNT);
            blocked.packInt(1).endPacking();
        }
        receiveInt(channel(0), 1);
    }

    private void sendInt(int value) {
        try (OutgoingMessage out = channel(0).beginPacking(1, 20, TimeUnit.SECONDS)) {
            out.packInt(value);
            out.endPacking(20, TimeUnit.SECONDS);
        }
    }

    private static void receiveInt(Channel channel, int expected) {
        try (IncomingMessage in = channel.beginUnpacking(20, TimeUnit.SECONDS)) {
            assertEquals(expected, in.unpackInt());
            in.endUnpacking();
        }
    }

    @Test
    default void shouldNotNestHandlersThatWaitForTheirOwnMessages() {
        open(3);
        int count = 60;
        int bytes = 40_000;
        HandlerCalls calls = new HandlerCalls();
        channel(0)
                .onMessage(message -> calls.within(() -> {
                    try (message) {
                        int number = message.unpackInt();
                        var block = block(bytes);
                        message.unpack(block, SendMode.CHEAPER, EXPRESS);
                        Pattern.check(number, block);
                        if (number % 2 == 0) {
                            message.endUnpacking();
                        } else {
                            Completion completion = message.endUnpackingAsync();
                            while (number % 3 == 0 && !completion.isDone()) {
                                Thread.onSpinWait();
                            }
                            completion.await();
                        }
                    }
                    calls.next.incrementAndGet();
                }));
        together(() -> sendInPieces(1, count, bytes), () -> sendInPieces(2, count, bytes), () -> {
            Signal nobody = channel(0).newSignal();
            nobody.await(() -> calls.next.get() == 2 * count || !calls.failures.isEmpty(), 1, 1, TimeUnit.SECONDS);
        });
        calls.check(2 * count);
    }

    private void sendInPieces(int rank, int count, int bytes) {
        for (int i = 0; i < count; i++) {
            try (OutgoingMessage out = channel(rank).beginPacking(0, 20, TimeUnit.SECONDS)) {
                out.packInt(i);
                if (i % 8 == 0) {
                    pause(2); // makes the handler wait longer than its first polls
                }
                out.pack(block(i, bytes), SendMode.CHEAPER, EXPRESS);
                out.endPacking(20, TimeUnit.SECONDS);
            }
        }
    }

    @Test
    default void shouldFailWaitsOfHandlersThatAreNotForTheirOwnMessagesAndSayWhatToUse() {
        open(setup().sessions(2).waiting(new WaitPolicy(WaitMode.ADAPTIVE, 0, 1, 15_000_000)));
        Channel channel = channel(1);
        Session session = channel.session();
        OutgoingMessage blocked = channel.beginPacking(0);
        Map<String, Body> waits = Map.of(
                "tryBeginPacking",
                () -> channel.beginPacking(0),
                "tryBeginUnpacking",
                channel::beginUnpacking,
                "another thread",
                () -> session.newSignal().await(() -> false),
                "let another thread",
                () -> channel.newSignal().await(() -> false, 0, 20, TimeUnit.SECONDS));
        HandlerCalls calls = new HandlerCalls();
        channel.onMessage(message -> calls.within(() -> {
            try (message) {
                message.unpackInt();
                message.endUnpacking();
            }
            for (Map.Entry<String, Body> wait : waits.entrySet()) {
                IllegalStateException refused = assertThrows(
                        IllegalStateException.class, () -> wait.getValue().run());
                assertSays("handler of channel default", refused);
                assertSays("madeleine.wait.in-handlers", refused);
                assertSays(wait.getKey(), refused);
            }
            calls.next.incrementAndGet();
        }));
        for (int i = 0; i < 2; i++) {
            sendInt(i);
            calls.check(i + 1); // else the handler finds the next one
        }
        blocked.packInt(7).endPacking(20, TimeUnit.SECONDS);
        blocked.close();
        receiveInt(channel(0), 7);
    }

    @Test
    default void shouldServeOnThoughHandlersAndActionsLeaveTheirThreadInterrupted() {
        open(2);
        int count = 4;
        int bytes = 1_000_000; // does not arrive at once
        HandlerCalls calls = new HandlerCalls();
        AtomicInteger actions = new AtomicInteger();
        channel(0)
                .onMessage(message -> calls.within(() -> {
                    assertFalse(Thread.currentThread().isInterrupted(), "interrupted by the previous handler");
                    try (message) {
                        int number = message.unpackInt();
                        Thread.currentThread().interrupt();
                        var block = block(bytes);
                        message.unpack(block, SendMode.CHEAPER, EXPRESS);
                        assertTrue(Thread.currentThread().isInterrupted(), "the wait lost the interrupt status");
                        message.endUnpackingAsync().onDone(() -> {
                            actions.incrementAndGet();
                            Thread.currentThread().interrupt();
                        });
                        Pattern.check(number, block);
                    }
                    calls.next.incrementAndGet();
                }));
        together(() -> sendInPieces(1, count, bytes));
        calls.check(count);
        eventually("the actions are run", () -> actions.get() == count);
    }

    /** An interrupt ends the wait, not the handlers that run in it; the engine cannot tell which thread has set it. */
    @Test
    default void shouldHandleWholeMessagesInAWaitThatIsInterrupted() {
        open(2);
        int bytes = 1 << 20;
        HandlerCalls calls = new HandlerCalls();
        Signal handled = channel(0).newSignal();
        AtomicReference<Thread> waiter = new AtomicReference<>();
        AtomicReference<Thread> within = new AtomicReference<>();
        AtomicInteger inWaits = new AtomicInteger();
        channel(0)
                .onMessage(message -> calls.within(() -> {
                    Thread self = Thread.currentThread();
                    try (message) {
                        int number = message.unpackInt();
                        boolean inWait = self == waiter.get();
                        if (inWait && inWaits.get() == 0) {
                            start(self::interrupt);
                            eventually("it is interrupted", self::isInterrupted);
                        }
                        var block = block(bytes);
                        message.unpack(block, SendMode.CHEAPER, EXPRESS);
                        message.endUnpacking();
                        Pattern.check(number, block);
                        if (inWait && inWaits.get() == 1) {
                            self.interrupt();
                        }
                    }
                    within.set(self);
                    calls.next.incrementAndGet();
                    handled.signal();
                }));
        for (int i = 0; inWaits.get() < 2; i++) { // the session's own thread may call the handler, too
            assertTrue(i < 500, "no waiting thread has called the handler");
            int number = i;
            AtomicBoolean ended = new AtomicBoolean();
            CompletableFuture<Void> waiting = start(() -> {
                Thread self = Thread.currentThread();
                waiter.set(self);
                try {
                    handled.await(
                            () -> !calls.failures.isEmpty() || calls.next.get() > number && within.get() != self,
                            1,
                            60,
                            TimeUnit.SECONDS);
                } catch (WaitInterruptedException _) {
                    ended.set(Thread.interrupted());
                }
            });
            eventually("it waits", () -> waiter.get() != null);
            try (OutgoingMessage out = channel(1).beginPacking(0, 20, TimeUnit.SECONDS)) {
                out.packInt(i);
                out.pack(block(i, bytes), SendMode.CHEAPER, EXPRESS);
                out.endPacking(20, TimeUnit.SECONDS);
            }
            join(waiting);
            calls.check(i + 1);
            assertEquals(within.get() == waiter.getAndSet(null), ended.get(), "the wait ended as interrupted");
            if (ended.get()) {
                inWaits.incrementAndGet();
            }
        }
    }

    private static <E extends Throwable> void sneak(Throwable thrown) throws E {
        @SuppressWarnings("unchecked")
        E unchecked = (E) thrown;
        throw unchecked;
    }

    @SuppressWarnings("InfiniteRecursion") // on purpose
    private static int overflow(int depth) {
        return 1 + overflow(depth + 1);
    }

    @Test
    default void shouldHarmNothingWhateverAHandlerThrows() {
        open(2);
        AtomicInteger calls = new AtomicInteger();
        AtomicInteger taken = new AtomicInteger();
        CompletableFuture<Void> unharmed = new CompletableFuture<>();
        channel(1).onMessage(message -> {
            int call = calls.getAndIncrement();
            switch (call % 5) {
                case 0 -> HandlersContract.<RuntimeException>sneak(new IOException("as a test"));
                case 1 -> overflow(0);
                case 2 -> throw new OutOfMemoryError("as a test");
                case 3 -> { // fails after another thread has ended its message
                    IncomingMessage mine = message;
                    mine.unpackInt(); // that thread would wait for this one, which leads and waits for it
                    join(start(() -> {
                        mine.discard();
                        mine.close();
                    }));
                    throw new IllegalStateException("as a test");
                }
                default -> {
                    try (message) {
                        assertEquals(call, message.unpackInt());
                        var block = block(60_000);
                        message.unpack(block, SendMode.CHEAPER, CHEAPER);
                        message.endUnpacking();
                        Pattern.check(call, block);
                        taken.incrementAndGet();
                    } catch (Throwable e) {
                        unharmed.completeExceptionally(e);
                    }
                }
            }
        });
        for (int i = 0; i < 20; i++) {
            try (OutgoingMessage out = channel(0).beginPacking(1, 20, TimeUnit.SECONDS)) {
                out.packInt(i);
                out.pack(block(i, 60_000), SendMode.CHEAPER, CHEAPER);
                out.endPacking(20, TimeUnit.SECONDS);
            }
        }
        BooleanSupplier lastIsHandled = () -> taken.get() == 4 || unharmed.isDone();
        channel(1).newSignal().await(lastIsHandled, 0, 1, TimeUnit.SECONDS); // calls handlers, too
        eventually("the last one is handled", lastIsHandled);
        unharmed.complete(null);
        join(unharmed);
        assertEquals(20, calls.get());
        send(channel(1), 0, 5, 100);
        receive(channel(0), 5, 100);
    }
}
