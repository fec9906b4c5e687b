package io.madeleine.pmm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.pmm.spi.Reactor;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.Pipe;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SelectionKey;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Where a handler has the session's own thread lead and sleep, a thread that waits for itself polls in its place. */
@Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class SleepingLeadTest {
    private static final long SPIN_NS = 100_000_000;
    private static final long PATIENCE_NS = 20_000_000_000L;

    private final CountingReactor reactor = new CountingReactor();
    private final AtomicInteger received = new AtomicInteger();
    private final AtomicInteger handled = new AtomicInteger();
    private final AtomicReference<Thread> poller = new AtomicReference<>();
    private final Waitable news = new Waitable();
    private ProgressEngine engine;
    private FakeNetwork network;

    /** Counts how often somebody comes back from a sleep. */
    private static final class CountingReactor implements Reactor {
        private final SelectorReactor selector = new SelectorReactor();
        private final AtomicInteger wakes = new AtomicInteger();

        @Override
        public Registration register(SelectableChannel channel, int operations, ReadyHandler handler) {
            return selector.register(channel, operations, handler);
        }

        @Override
        public int poll() {
            return selector.poll();
        }

        @Override
        public int sleep(long timeoutNs) {
            try {
                return selector.sleep(timeoutNs);
            } finally {
                wakes.incrementAndGet();
            }
        }

        @Override
        public int sleep(long timeoutNs, BooleanSupplier mayHandle) {
            try {
                return selector.sleep(timeoutNs, mayHandle);
            } finally {
                wakes.incrementAndGet();
            }
        }

        @Override
        public boolean asksBeforeHandling() {
            return selector.asksBeforeHandling();
        }

        @Override
        public void wakeUp() {
            selector.wakeUp();
        }

        @Override
        public void close() {
            selector.close();
        }
    }

    @BeforeEach
    void open() {
        open(new WaitPolicy(WaitMode.ADAPTIVE, SPIN_NS, 3));
    }

    private void open(WaitPolicy policy) {
        engine = new ProgressEngine("test", reactor, policy, new Demands(), SpareProcessorTest.always());
        network = new FakeNetwork(reactor);
        network.listener = () -> {
            poller.set(Thread.currentThread());
            received.incrementAndGet();
            engine.signal(news);
        };
        engine.addSource(network);
        engine.addDispatcher(
                () -> {
                    int before = handled.getAndSet(received.get());
                    return received.get() - before;
                },
                WaitHint.AUTO);
    }

    @AfterEach
    void close() {
        engine.close();
        network.freed = true;
        reactor.close();
        assertNull(network.violation.get());
    }

    private static void awaitThat(BooleanSupplier condition, String what) {
        long giveUpNs = System.nanoTime() + PATIENCE_NS;
        while (!condition.getAsBoolean()) {
            assertTrue(giveUpNs - System.nanoTime() > 0, what);
            Thread.onSpinWait();
        }
    }

    private void awaitSleeper() {
        awaitThat(engine::isLeadAsleep, "the session's own thread sleeps, and may be replaced");
    }

    private boolean awaitReceived(int count) {
        return engine.await(news, () -> received.get() >= count, System.nanoTime() + PATIENCE_NS);
    }

    @Test
    @Tag("measures")
    void shouldPollAtOnceAndNeverWakeTheSleeper() {
        int most = 0;
        for (int tries = 0; tries < 10 && most < 200; tries++) { // it wakes once a second by itself
            awaitSleeper();
            int wakes = reactor.wakes.get();
            int count = 0;
            while (reactor.wakes.get() == wakes && count < 200) {
                count++;
                network.arrived.incrementAndGet(); // and rings no bell
                assertTrue(awaitReceived(received.get() + 1));
                assertTrue(poller.get() == Thread.currentThread() || reactor.wakes.get() != wakes, "this one polls");
            }
            most = Math.max(most, count);
        }
        assertEquals(200, most, "waits in a row that woke nobody");
        assertTrue(engine.isLeadAsleep());
    }

    @Test
    @Tag("measures")
    void shouldPollAtOnceAndNeverWakeTheSleeperAlsoForAThreadThatOnlyTries() {
        int most = 0;
        for (int tries = 0; tries < 10 && most < 200; tries++) { // it wakes once a second by itself
            awaitSleeper();
            int wakes = reactor.wakes.get();
            int count = 0;
            while (reactor.wakes.get() == wakes && count < 200) {
                count++;
                int before = received.get();
                network.arrived.incrementAndGet(); // and rings no bell
                assertTrue(engine.progress() > 0 || reactor.wakes.get() != wakes);
                assertTrue(received.get() > before || reactor.wakes.get() != wakes, "the try has polled");
            }
            most = Math.max(most, count);
        }
        assertEquals(200, most, "tries in a row that woke nobody");
        assertTrue(engine.isLeadAsleep());
    }

    @Test
    @Tag("measures")
    void shouldHaveWhatComesLaterHandledThoughNobodyWaits() {
        Runnable byStep = () -> engine.enqueue(() -> {
            received.incrementAndGet();
            return true;
        });
        for (boolean rearms : new boolean[] {true, false}) {
            network.rearms = rearms;
            assertHandledInTime(network::send, "a message, rearms: " + rearms);
            assertHandledInTime(byStep, "a step, rearms: " + rearms);
        }
        assertTrue(network.rearmCount.get() > 0);
    }

    /** The sleeper looks by itself after a second. */
    private void assertHandledInTime(Runnable change, String what) {
        long leastNs = Long.MAX_VALUE;
        for (int i = 0; i < 3; i++) {
            awaitSleeper();
            assertFalse(engine.await(news, () -> false, System.nanoTime() + 100_000));
            int before = handled.get();
            long startNs = System.nanoTime();
            change.run();
            awaitThat(() -> handled.get() > before, what);
            leastNs = Math.min(leastNs, System.nanoTime() - startNs);
        }
        assertTrue(leastNs < 500_000_000, what + " took " + leastNs + " ns");
    }

    @Test
    void shouldMissNothingThatComesAsAWaitEnds() throws InterruptedException {
        AtomicInteger sent = new AtomicInteger();
        AtomicReference<String> failure = new AtomicReference<>();
        Thread sender = Thread.ofPlatform().start(() -> {
            long endNs = System.nanoTime() + 1_500_000_000;
            while (endNs - System.nanoTime() > 0 && failure.get() == null) {
                long waitNs = System.nanoTime() + ThreadLocalRandom.current().nextInt(60_000);
                while (waitNs - System.nanoTime() > 0) {
                    Thread.onSpinWait();
                }
                int next = sent.incrementAndGet();
                if (next % 2 == 0) {
                    network.send();
                } else {
                    engine.enqueue(() -> {
                        received.incrementAndGet();
                        return true;
                    });
                }
                long giveUpNs = System.nanoTime() + PATIENCE_NS;
                while (handled.get() < next && failure.get() == null) {
                    if (giveUpNs - System.nanoTime() < 0) {
                        failure.set("message " + next + " was not handled");
                    }
                    Thread.yield();
                }
            }
        });
        while (sender.isAlive()) {
            boolean _ = engine.await(
                    news,
                    () -> false,
                    System.nanoTime() + ThreadLocalRandom.current().nextInt(20_000));
            network.rearms = ThreadLocalRandom.current().nextInt(8) > 0;
            if (ThreadLocalRandom.current().nextInt(64) == 0) { // else the own thread has no time to fall asleep
                Thread.sleep(1);
            }
        }
        sender.join();
        assertNull(failure.get());
        assertTrue(sent.get() > 10, sent + " messages");
    }

    @Test
    void shouldHandleEventsOfTheReactorInTheThreadThatHasTheLead() throws IOException {
        Pipe pipe = Pipe.open();
        AtomicReference<Thread> handler = new AtomicReference<>();
        pipe.source().configureBlocking(false);
        Reactor.Registration registration = reactor.register(pipe.source(), SelectionKey.OP_READ, _ -> {
            try {
                int _ = pipe.source().read(ByteBuffer.allocate(8));
            } catch (IOException e) {
                throw new AssertionError(e);
            }
            handler.set(Thread.currentThread());
        });
        int inOwnHands = 0;
        for (int i = 0; i < 5; i++) {
            awaitSleeper();
            handler.set(null);
            network.lastVisitor.set(null);
            boolean[] written = new boolean[1];
            assertTrue(engine.await(
                    news,
                    () -> {
                        if (!written[0] && network.lastVisitor.get() == Thread.currentThread()) { // it leads
                            written[0] = true;
                            try {
                                pipe.sink().write(ByteBuffer.allocate(1));
                            } catch (IOException e) {
                                throw new AssertionError(e);
                            }
                            return false;
                        }
                        return handler.get() != null;
                    },
                    System.nanoTime() + PATIENCE_NS));
            inOwnHands += handler.get() == Thread.currentThread() ? 1 : 0;
        }
        assertEquals(5, inOwnHands);
        registration.cancel();
        pipe.sink().close();
        pipe.source().close();
    }

    @Test
    @Tag("measures")
    void shouldNotSpinForAHandlerThatHasNothingToDo() throws InterruptedException {
        int least = Integer.MAX_VALUE;
        for (int i = 0; i < 5; i++) {
            network.rearms = false; // the own thread leads anew after each wait
            assertFalse(engine.await(news, () -> false, System.nanoTime() + 100_000));
            int before = network.pollCount.get();
            awaitSleeper();
            Thread.sleep(20);
            least = Math.min(least, network.pollCount.get() - before);
        }
        assertTrue(least < 200, least + " polls, with a patience of 100 ms");
    }

    /** Else it would keep threads of the program from a processor, where there is one for both. */
    @Test
    @Tag("measures")
    void shouldSpinForHandlersOnlyForAWhileThoughThreadsThatWaitAlwaysDo() throws InterruptedException {
        engine.close();
        open(new WaitPolicy(WaitMode.SPIN, 100_000, 3));
        for (int i = 1; i <= 3; i++) {
            awaitSleeper();
            int count = i;
            network.send();
            awaitThat(() -> handled.get() == count, "a message is handled");
        }
        awaitSleeper();
        int least = Integer.MAX_VALUE;
        for (int i = 0; i < 5 && least >= 200; i++) { // it wakes once a second by itself
            int before = network.pollCount.get();
            Thread.sleep(20);
            least = Math.min(least, network.pollCount.get() - before);
        }
        assertTrue(least < 200, "it spins though nothing comes");
    }

    @Test
    void shouldCloseWhileTheLeadIsAsleepAndWhileItIsTaken() throws InterruptedException {
        awaitSleeper();
        engine.close();
        open();
        awaitSleeper();
        Thread waiter = Thread.ofPlatform().start(() -> {
            try {
                boolean _ = engine.await(news, () -> false, ProgressEngine.NO_DEADLINE);
            } catch (RuntimeException _) {
                // closed
            }
        });
        awaitThat(() -> !engine.isLeadAsleep(), "the lead is taken");
        engine.close();
        waiter.join();
    }
}
