package io.madeleine.tm.sci;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.api.Channel;
import io.madeleine.api.IncomingMessage;
import io.madeleine.api.Signal;
import io.madeleine.pmm.WaitMode;
import io.madeleine.pmm.WaitPolicy;
import io.madeleine.testkit.messages.LocalSessions;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * A thread that waits for what a handler brings about looks where the message is expected from, and calls the handler
 * itself. Here another thread has the lead, and keeps it in a handler of another channel: nobody polls.
 */
@Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class WaitingThreadTest {
    @TempDir
    Path directory;

    private final CountDownLatch isLed = new CountDownLatch(1);
    private final CountDownLatch mayLeave = new CountDownLatch(1);
    private LocalSessions sessions;
    private Channel channel;
    private Signal signal;

    @BeforeEach
    void open() throws InterruptedException {
        SciConfig config = SciConfig.from(Side.config(directory, Mortal.SETTINGS));
        sessions = LocalSessions.of(3)
                .network("sci", _ -> new SciPmm(config))
                .channel("default", "sci")
                .channel("other", "sci")
                .waiting(new WaitPolicy(WaitMode.ADAPTIVE, 20_000, 10))
                .open();
        channel = sessions.channel(1);
        signal = channel.newSignal();
        sessions.session(1).channel("other").onMessage(message -> {
            int _ = take(message);
            isLed.countDown();
            await(mayLeave);
        });
        send(sessions.session(0).channel("other"), 1);
        await(isLed);
    }

    @AfterEach
    void close() {
        mayLeave.countDown();
        sessions.close();
    }

    @Test
    void shouldCallTheHandlerInTheThreadThatWaitsThoughAnotherHasTheLead() {
        AtomicReference<Thread> within = new AtomicReference<>();
        channel.onMessage(message -> {
            int _ = take(message);
            within.set(Thread.currentThread());
            signal.signal();
        });
        send(sessions.channel(0), 1);
        assertTrue(signal.await(() -> within.get() != null, 0, 20, TimeUnit.SECONDS));
        assertEquals(Thread.currentThread(), within.get());
    }

    @Test
    void shouldExpectTheSenderOfTheLastMessageIfNoneIsNamed() {
        AtomicInteger last = new AtomicInteger();
        channel.onMessage(message -> last.set(take(message)));
        send(sessions.channel(2), 1);
        assertTrue(signal.await(() -> last.get() == 1, 2, 20, TimeUnit.SECONDS));
        send(sessions.channel(2), 2);
        assertTrue(signal.await(() -> last.get() == 2, 20, TimeUnit.SECONDS));
        send(sessions.channel(2), 3);
        signal.await(() -> last.get() == 3);
    }

    @Test
    void shouldGoOnAfterAHandlerThatThrows() {
        AtomicInteger last = new AtomicInteger();
        channel.onMessage(message -> {
            last.set(message.unpackInt());
            throw new AssertionError("as a test");
        });
        for (int i = 1; i <= 3; i++) {
            int number = i;
            send(sessions.channel(0), number);
            assertTrue(signal.await(() -> last.get() == number, 0, 20, TimeUnit.SECONDS));
        }
    }

    @Test
    void shouldCallNoHandlerInAHandlerThatWaitsForASignal() {
        AtomicInteger running = new AtomicInteger();
        AtomicInteger nested = new AtomicInteger();
        AtomicInteger last = new AtomicInteger();
        channel.onMessage(message -> {
            if (running.incrementAndGet() > 1) {
                nested.incrementAndGet();
            }
            int number = take(message);
            if (number == 1) {
                send(sessions.channel(0), 2);
                assertEquals(false, signal.await(() -> last.get() == 2, 0, 5, TimeUnit.MILLISECONDS));
            }
            last.set(number);
            running.decrementAndGet();
        });
        send(sessions.channel(0), 1);
        assertTrue(signal.await(() -> last.get() == 1, 0, 20, TimeUnit.SECONDS));
        assertTrue(signal.await(() -> last.get() == 2, 0, 20, TimeUnit.SECONDS));
        assertEquals(0, nested.get());
    }

    private static void await(CountDownLatch latch) {
        try {
            assertTrue(latch.await(30, TimeUnit.SECONDS));
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void send(Channel channel, int number) {
        channel.beginPacking(1).packInt(number).endPacking();
    }

    private static int take(IncomingMessage message) {
        try (message) {
            int number = message.unpackInt();
            message.endUnpacking();
            return number;
        }
    }
}
