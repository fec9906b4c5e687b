package io.madeleine.testkit.messages;

import static io.madeleine.testkit.messages.TestThreads.eventually;
import static io.madeleine.testkit.messages.TestThreads.join;
import static io.madeleine.testkit.messages.TestThreads.pause;
import static io.madeleine.testkit.messages.TestThreads.start;
import static io.madeleine.testkit.messages.TestThreads.together;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.api.Channel;
import io.madeleine.api.IncomingMessage;
import io.madeleine.api.OutgoingMessage;
import io.madeleine.api.Signal;
import io.madeleine.pmm.WaitMode;
import io.madeleine.pmm.WaitPolicy;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** The contract of a channel's signals: the handler runs in the waiting thread, and all others are served meanwhile. */
public interface SignalContract extends MessageFixture {
    int EXCHANGES = 2_000;

    /** Longer than any test takes. */
    int LONG_S = 60;

    private static void sendInt(Channel channel, int remote, int value) {
        try (OutgoingMessage out = channel.beginPacking(remote, 20, TimeUnit.SECONDS)) {
            out.packInt(value);
            out.endPacking(20, TimeUnit.SECONDS);
        }
    }

    private static int takeInt(IncomingMessage message) {
        try (message) {
            int value = message.unpackInt();
            message.endUnpacking();
            return value;
        }
    }

    private static void await(CountDownLatch latch) {
        try {
            assertTrue(latch.await(20, TimeUnit.SECONDS));
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    default void shouldServeThreadsThatWaitForSeveralPeersAndOthersBeside() {
        open(4);
        AtomicInteger running = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        AtomicInteger[] received = {null, new AtomicInteger(), new AtomicInteger(), new AtomicInteger()};
        Signal signal = channel(0).newSignal();
        channel(0).onMessage(message -> {
            most.accumulateAndGet(running.incrementAndGet(), Math::max);
            int from = message.remote();
            int value = takeInt(message);
            running.decrementAndGet();
            if (received[from].compareAndSet(value - 1, value)) { // otherwise the count is never reached
                signal.signal();
            }
        });
        together(
                () -> exchange(1, signal, received[1]),
                () -> exchange(2, signal, received[2]),
                () -> answer(1),
                () -> answer(2),
                () -> {
                    for (int i = 1; i <= EXCHANGES / 100; i++) { // no thread waits for rank 3
                        int value = i;
                        sendInt(channel(3), 0, value);
                        eventually("it is handled", () -> received[3].get() == value);
                    }
                });
        assertEquals(1, most.get(), "handlers at a time");
    }

    private void exchange(int peer, Signal signal, AtomicInteger received) {
        for (int i = 1; i <= EXCHANGES; i++) {
            int value = i;
            sendInt(channel(0), peer, value);
            assertTrue(signal.await(() -> received.get() == value, peer, LONG_S, TimeUnit.SECONDS));
        }
    }

    private void answer(int rank) {
        for (int i = 1; i <= EXCHANGES; i++) {
            try (IncomingMessage in = channel(rank).beginUnpacking(20, TimeUnit.SECONDS)) {
                assertEquals(i, in.unpackInt());
                in.endUnpacking();
            }
            sendInt(channel(rank), 0, i);
        }
    }

    /** While a waiting thread is in its handler, the leader finds nothing to do there and sleeps. */
    @Test
    default void shouldHandleWhatCameFromOthersWhileTheHandlerRanInAThreadThatWaits() {
        open(setup().sessions(3).waiting(new WaitPolicy(WaitMode.ADAPTIVE, 1_000, 1)));
        CountDownLatch within = new CountDownLatch(1);
        CountDownLatch mayLeave = new CountDownLatch(1);
        AtomicInteger handled = new AtomicInteger();
        Signal signal = channel(0).newSignal();
        channel(0).onMessage(message -> {
            int value = takeInt(message);
            if (value == 1) {
                within.countDown();
                await(mayLeave);
            }
            handled.incrementAndGet();
            signal.signal();
        });
        CompletableFuture<Void> waiting =
                start(() -> assertTrue(signal.await(() -> handled.get() > 0, 1, LONG_S, TimeUnit.SECONDS)));
        sendInt(channel(1), 0, 1);
        await(within);
        sendInt(channel(2), 0, 2);
        pause(20); // lets the leader poll and fall asleep; if it does not, the test is only weaker
        assertEquals(0, handled.get());
        mayLeave.countDown();
        join(waiting);
        eventually("all are handled", () -> handled.get() == 2);
    }

    /** Threads that poll at that moment may already have read the previous handler. */
    @Test
    default void shouldGiveMessagesToTheHandlerThatWasSetLast() {
        open(2);
        AtomicInteger last = new AtomicInteger();
        AtomicInteger handled = new AtomicInteger();
        Signal signal = channel(0).newSignal();
        for (int i = 1; i <= EXCHANGES; i++) {
            int number = i;
            channel(0).onMessage(message -> {
                int _ = takeInt(message);
                last.set(number);
                handled.incrementAndGet();
                signal.signal();
            });
            sendInt(channel(1), 0, number);
            assertTrue(signal.await(() -> handled.get() == number, 1, LONG_S, TimeUnit.SECONDS));
            assertEquals(number, last.get(), "the number of the handler that was called");
        }
    }

    @Test
    default void shouldEndAWaitForASilentPeerAtItsDeadlineAndForAnyWithoutPeer() {
        open(3);
        AtomicInteger handled = new AtomicInteger();
        Signal signal = channel(0).newSignal();
        channel(0).onMessage(message -> {
            int _ = takeInt(message);
            handled.incrementAndGet();
            signal.signal();
        });
        assertFalse(signal.await(() -> handled.get() > 0, 1, 20, TimeUnit.MILLISECONDS));
        sendInt(channel(2), 0, 1);
        assertTrue(signal.await(() -> handled.get() == 1, 1, LONG_S, TimeUnit.SECONDS), "a message from another rank");
        sendInt(channel(1), 0, 1);
        assertTrue(signal.await(() -> handled.get() == 2, -1, LONG_S, TimeUnit.SECONDS));
        sendInt(channel(2), 0, 1);
        assertTrue(signal.await(() -> handled.get() == 3, 0, LONG_S, TimeUnit.SECONDS), "expected from itself");
        sendInt(channel(2), 0, 1);
        CompletableFuture<Void> virtual = start(
                Thread.ofVirtual(),
                () -> assertTrue(signal.await(() -> handled.get() == 4, 2, LONG_S, TimeUnit.SECONDS)));
        join(virtual);
    }
}
