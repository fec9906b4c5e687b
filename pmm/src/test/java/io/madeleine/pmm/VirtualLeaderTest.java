package io.madeleine.pmm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.api.SessionException;
import io.madeleine.api.WaitInterruptedException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** Who polls where it is virtual threads that wait, or that handlers start. */
@ParameterizedClass
@EnumSource(
        value = WaitMode.class,
        names = {"SPIN", "ADAPTIVE"})
@Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class VirtualLeaderTest {
    private static final long PATIENCE_NS = 20_000_000_000L;
    private static final int FEW = 500;

    @Parameter
    WaitMode mode;

    private SelectorReactor reactor;
    private ProgressEngine engine;
    private FakeNetwork network;
    private final Waitable news = new Waitable();
    private final AtomicInteger received = new AtomicInteger();

    /** How many numbers were polled by a virtual thread. */
    private final AtomicInteger virtually = new AtomicInteger();

    @BeforeEach
    void open() {
        open(new WaitPolicy(mode, 200_000, 5));
    }

    private void open(WaitPolicy policy) {
        reactor = new SelectorReactor();
        engine = new ProgressEngine("test", reactor, policy, new Demands(), SpareProcessorTest.always());
        network = new FakeNetwork(reactor);
        network.listener = () -> {
            if (Thread.currentThread().isVirtual()) {
                virtually.incrementAndGet();
            }
            received.incrementAndGet();
            engine.signal(news);
        };
        engine.addSource(network);
    }

    @AfterEach
    void close() {
        engine.close();
        network.freed = true;
        reactor.close();
        assertNull(network.violation.get());
    }

    private static CompletableFuture<Void> inVirtualThread(Runnable action) {
        return CompletableFuture.runAsync(action, task -> Thread.ofVirtual().start(task));
    }

    /** Has a number sent, and waits for it. */
    private void sendAndReceive() {
        int count = received.get() + 1;
        network.send();
        assertTrue(engine.await(news, () -> received.get() >= count, System.nanoTime() + PATIENCE_NS));
    }

    /** In a virtual thread: until such a one polls. */
    private void untilPolledVirtually() {
        long startNs = System.nanoTime();
        for (int before = virtually.get(); virtually.get() == before; ) {
            sendAndReceive();
            assertTrue(System.nanoTime() - startNs < PATIENCE_NS, "a virtual thread never leads");
        }
    }

    /**
     * Until a virtual thread leads; then the network has something to do in each round, so that it leads on, and
     * something else is begun. Ends with one more number.
     */
    private CompletableFuture<Void> waitWhileVirtuallyBusy(Runnable begin) {
        return inVirtualThread(() -> {
            untilPolledVirtually();
            network.busy = true;
            int count = received.get() + 1;
            begin.run();
            assertTrue(engine.await(news, () -> received.get() >= count, System.nanoTime() + PATIENCE_NS));
        });
    }

    private static void until(java.util.function.BooleanSupplier met, String otherwise) {
        long startNs = System.nanoTime();
        while (!met.getAsBoolean()) {
            assertTrue(System.nanoTime() - startNs < PATIENCE_NS, otherwise);
            Thread.onSpinWait();
        }
    }

    /** From now on a handler has each number taken by a virtual thread, which sends the next one until it is enough. */
    private AtomicInteger handInChain(int enough) {
        AtomicInteger handed = new AtomicInteger();
        AtomicInteger run = new AtomicInteger();
        Executor threads = engine.virtualThreads("handler-");
        engine.addDispatcher(
                () -> {
                    int work = 0;
                    while (handed.get() < received.get()) {
                        handed.incrementAndGet();
                        threads.execute(() -> {
                            if (run.incrementAndGet() < enough) {
                                network.send();
                            } else {
                                engine.signal(news);
                            }
                        });
                        work++;
                    }
                    return work;
                },
                WaitHint.AUTO);
        return run;
    }

    @Test
    void shouldPollVirtuallyWhereVirtualThreadsWaitAgainAndAgain() {
        inVirtualThread(() -> {
                    for (int i = 0; i < 3; i++) {
                        untilPolledVirtually();
                    }
                })
                .join();
    }

    @Test
    @Tag("measures")
    void shouldPollVirtuallyWhereHandlersStartVirtualThreads() {
        AtomicInteger run = handInChain(FEW);
        network.send();
        until(() -> run.get() >= FEW, "the chain of handlers broke");
        assertTrue(virtually.get() > 0, "a virtual thread never led");
    }

    @Test
    void shouldNotPollVirtuallyWhereTheHintIsToSpareTheProcessor() {
        Waitable patient = new Waitable(WaitHint.CPU);
        network.listener = () -> {
            if (Thread.currentThread().isVirtual()) {
                virtually.incrementAndGet();
            }
            received.incrementAndGet();
            engine.signal(patient);
        };
        inVirtualThread(() -> {
                    for (int i = 1; i <= FEW; i++) {
                        int count = i;
                        network.send();
                        assertTrue(
                                engine.await(patient, () -> received.get() >= count, System.nanoTime() + PATIENCE_NS));
                    }
                })
                .join();
        assertEquals(0, virtually.get());
    }

    @Test
    void shouldNotPollVirtuallyWhereThreadsSleepAtOnce() {
        close();
        open(new WaitPolicy(mode == WaitMode.SPIN ? WaitMode.BLOCK : WaitMode.ADAPTIVE, 0, 0));
        inVirtualThread(() -> {
                    for (int i = 0; i < FEW; i++) {
                        sendAndReceive();
                    }
                })
                .join();
        assertEquals(0, virtually.get());
    }

    @Test
    @Tag("measures")
    void shouldHaveAThreadThatWaitsForLongLeaveTheLead() {
        AtomicInteger run = handInChain(FEW);
        network.send();
        assertTrue(engine.await(news, () -> run.get() >= FEW, System.nanoTime() + PATIENCE_NS));
        assertTrue(virtually.get() > 0, "a virtual thread never led");
        assertEquals(1, engine.demand(), "what remains is the handler's");
    }

    @Test
    void shouldEndTheWaitOfAThreadThatLeftTheLeadAtItsDeadline() {
        AtomicInteger run = handInChain(Integer.MAX_VALUE);
        network.send();
        until( // the machine may be too busy for that within one wait
                () -> {
                    int before = virtually.get();
                    long startNs = System.nanoTime();
                    assertFalse(engine.await(new Waitable(), () -> false, startNs + 300_000_000));
                    assertTrue(System.nanoTime() - startNs >= 300_000_000);
                    return virtually.get() > before;
                },
                "a virtual thread never led");
        assertTrue(run.get() > 0);
    }

    @Test
    void shouldEndTheWaitOfAThreadThatLeftTheLeadWhenItIsInterrupted() throws Exception {
        handInChain(Integer.MAX_VALUE);
        network.send();
        AtomicReference<Throwable> end = new AtomicReference<>();
        Thread waiting = Thread.ofPlatform()
                .start(() -> end.set(assertThrows(
                        RuntimeException.class, () -> engine.await(new Waitable(), () -> false, Long.MAX_VALUE))));
        until(() -> virtually.get() > 0, "a virtual thread never leads");
        waiting.interrupt();
        waiting.join(10_000);
        assertEquals(WaitInterruptedException.class, end.get().getClass());
    }

    @Test
    void shouldGiveTheLeadToAThreadThatWaitsForItself() {
        CompletableFuture<Void> waiting = waitWhileVirtuallyBusy(() -> {});
        until(() -> network.busy, "a virtual thread never leads");
        Thread self = Thread.currentThread();
        AtomicBoolean polledHere = new AtomicBoolean();
        boolean met = engine.await(
                new Waitable(),
                () -> {
                    polledHere.compareAndSet(false, network.lastVisitor.get() == self);
                    return polledHere.get();
                },
                System.nanoTime() + PATIENCE_NS);
        network.busy = false;
        network.send();
        waiting.join();
        assertTrue(met, "a thread that waited could not lead");
    }

    @Test
    void shouldPollOnWhenOthersComputeOnAllCarriers() throws Exception {
        AtomicBoolean stop = new AtomicBoolean();
        AtomicLong computed = new AtomicLong();
        CompletableFuture<Void> done = waitWhileVirtuallyBusy(() -> {
            for (int i = 0; i < 2 * Runtime.getRuntime().availableProcessors(); i++) {
                Thread.ofVirtual().start(() -> {
                    while (!stop.get()) {
                        computed.incrementAndGet();
                    }
                });
            }
        });
        try {
            until(() -> computed.get() > 0, "nobody computes");
            until(
                    () -> network.lastVisitor.get() == engine.ownThreadOnDuty(),
                    "nobody polls while all carriers are taken");
            int before = received.get();
            network.send();
            until(() -> received.get() > before, "nobody polls while all carriers are taken");
        } finally {
            stop.set(true);
            network.busy = false;
        }
        done.get(10, TimeUnit.SECONDS);
    }

    @Test
    void shouldOfferTheLeadIfTheTurnOfTheVirtualThreadNeverBegins() throws Exception {
        AtomicBoolean stop = new AtomicBoolean();
        AtomicInteger computing = new AtomicInteger();
        for (int i = 0; i < 2 * Runtime.getRuntime().availableProcessors(); i++) {
            Thread.ofVirtual().start(() -> {
                computing.incrementAndGet();
                while (!stop.get()) {
                    Thread.onSpinWait();
                }
            });
        }
        Executor threads = engine.virtualThreads("handler-");
        AtomicInteger handed = new AtomicInteger();
        engine.addDispatcher(
                () -> {
                    int work = 0;
                    for (; handed.get() < received.get(); work++) {
                        handed.incrementAndGet();
                        threads.execute(() -> {});
                    }
                    return work;
                },
                WaitHint.AUTO);
        Runnable waitsAndCouldLead = () -> engine.await(new Waitable(), stop::get, System.nanoTime() + 3 * PATIENCE_NS);
        try {
            until(() -> computing.get() > 0, "nobody computes");
            Thread.ofPlatform().start(waitsAndCouldLead);
            Thread.ofPlatform().start(waitsAndCouldLead);
            until(engine::hasLeadSeekers, "nobody could lead beside the leader");
            for (int i = 0; i < 100; i++) {
                int before = received.get();
                network.send();
                until(() -> received.get() > before, "a thread that could lead was never told that the lead is free");
            }
        } finally {
            stop.set(true);
        }
    }

    @Test
    void shouldHaveTheSessionsOwnThreadSleepWhenNothingComesAnyMore() {
        AtomicBoolean waits = new AtomicBoolean();
        CompletableFuture<Void> waiting = inVirtualThread(() -> {
            untilPolledVirtually();
            int count = received.get() + 1;
            waits.set(true);
            assertTrue(engine.await(news, () -> received.get() >= count, System.nanoTime() + PATIENCE_NS));
        });
        until(waits::get, "a virtual thread never leads");
        until(
                () -> network.lastVisitor.get() == engine.ownThreadOnDuty(),
                "the virtual leader goes on though nothing comes");
        network.send();
        waiting.join();
    }

    @Test
    void shouldLetAHandlerWaitForVirtualThreads() {
        AtomicBoolean entered = new AtomicBoolean();
        AtomicBoolean waited = new AtomicBoolean();
        AtomicInteger answers = new AtomicInteger();
        AtomicReference<Throwable> failure = new AtomicReference<>();
        Waitable answered = new Waitable();
        Executor threads = engine.virtualThreads("handler-");
        engine.addDispatcher( // of another channel, whose handlers go on while this one's waits
                () -> {
                    if (entered.get() && !waited.get()) {
                        threads.execute(() -> {
                            answers.incrementAndGet();
                            engine.signal(answered);
                        });
                        return 1;
                    }
                    return 0;
                },
                WaitHint.AUTO);
        engine.addDispatcher(
                () -> {
                    if (Thread.currentThread().isVirtual() && entered.compareAndSet(false, true)) {
                        try {
                            assertTrue(
                                    engine.await(answered, () -> answers.get() >= 20, System.nanoTime() + PATIENCE_NS));
                        } catch (Throwable e) {
                            failure.set(e);
                        }
                        waited.set(true);
                    }
                    return 0;
                },
                WaitHint.AUTO);
        inVirtualThread(() -> {
                    while (!waited.get()) {
                        sendAndReceive();
                    }
                    untilPolledVirtually();
                })
                .join();
        assertNull(failure.get());
    }

    @Test
    @Tag("measures")
    void shouldCloseWhileAVirtualThreadLeads() {
        AtomicReference<Throwable> end = new AtomicReference<>();
        CompletableFuture<Void> endless = inVirtualThread(() -> end.set(assertThrows(RuntimeException.class, () -> {
            while (true) {
                sendAndReceive();
            }
        })));
        until(() -> virtually.get() > 0, "a virtual thread never leads");
        long startNs = System.nanoTime();
        engine.close();
        network.freed = true;
        assertTrue(System.nanoTime() - startNs < 3_000_000_000L, "closing waited for the virtual leader");
        endless.join();
        assertEquals(SessionException.class, end.get().getClass());
    }
}
