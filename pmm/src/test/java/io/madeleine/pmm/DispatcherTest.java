package io.madeleine.pmm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.api.SessionException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The right to call a channel's handlers: one thread has it at a time, whether it leads or not. */
@Timeout(value = 30, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class DispatcherTest {
    private static final int ROUNDS = 2_000;

    private final SelectorReactor reactor = new SelectorReactor();
    private final ProgressEngine engine =
            new ProgressEngine("test", reactor, new WaitPolicy(WaitMode.ADAPTIVE, 20_000, 1));
    private final AtomicInteger queued = new AtomicInteger();
    private final AtomicInteger handled = new AtomicInteger();
    private final AtomicInteger inside = new AtomicInteger();
    private final AtomicInteger most = new AtomicInteger();
    private final AtomicBoolean works = new AtomicBoolean(true);
    private final Dispatcher dispatcher =
            engine.addDispatcher("channel test", this::handle, () -> works.get() && queued.get() > 0, WaitHint.AUTO);

    @AfterEach
    void close() {
        engine.close();
        reactor.close();
    }

    private int handle() {
        most.accumulateAndGet(inside.incrementAndGet(), Math::max);
        int count = queued.getAndSet(0);
        handled.addAndGet(count);
        inside.decrementAndGet();
        return count;
    }

    private void queue() {
        queued.incrementAndGet();
        engine.requestRound();
    }

    private static void await(CountDownLatch latch) {
        try {
            assertTrue(latch.await(20, TimeUnit.SECONDS));
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private void awaitHandled(int count) {
        while (handled.get() < count) {
            Thread.yield();
        }
    }

    /** A thread that enters and leaves, as the leader calls handlers again and again. */
    @Test
    void shouldLetOneThreadInAtATime() {
        for (int i = 0; i < ROUNDS; i++) {
            queue();
            if (dispatcher.tryEnter()) {
                assertTrue(engine.isInHandler());
                handle();
                dispatcher.leave();
                if (queued.get() > 0) {
                    engine.requestRound();
                }
            }
        }
        awaitHandled(ROUNDS);
        assertEquals(1, most.get());
        assertFalse(engine.isInHandler());
    }

    /** The leader finds a thread inside, and sleeps. */
    @Test
    void shouldHandleWhatTheLeaderHadToPassByAsAThreadWasInside() throws Exception {
        works.set(false);
        queue();
        assertTrue(dispatcher.tryEnter());
        works.set(true);
        while (!engine.isLeadAsleep()) {
            Thread.yield();
        }
        assertEquals(0, handled.get());
        dispatcher.leave();
        engine.requestRound();
        awaitHandled(1);
    }

    @Test
    void shouldLetNobodyInWhoRunsAHandlerOrLeads() throws Exception {
        assertTrue(engine.mayDispatch());
        assertTrue(dispatcher.tryEnter());
        assertFalse(engine.mayDispatch(), "in a handler");
        assertFalse(dispatcher.tryEnter());
        dispatcher.leave();
        AtomicBoolean asLeader = new AtomicBoolean(true);
        assertTrue(engine.await(
                new Waitable(),
                () -> {
                    asLeader.set(engine.mayDispatch());
                    return engine.isLed() && !asLeader.get();
                },
                System.nanoTime() + 10_000_000_000L));
        CompletableFuture<Boolean> virtual = new CompletableFuture<>();
        Thread.startVirtualThread(() -> virtual.complete(engine.mayDispatch()));
        assertFalse(virtual.get(), "a virtual thread");
    }

    @Test
    void shouldWaitAtTheEndForAHandlerThatRunsBesideTheLeader() throws Exception {
        CountDownLatch entered = new CountDownLatch(1);
        AtomicBoolean left = new AtomicBoolean();
        CompletableFuture<Void> handler = CompletableFuture.runAsync(
                () -> {
                    assertTrue(dispatcher.tryEnter());
                    entered.countDown();
                    assertThrows(SessionException.class, () -> {
                        while (true) {
                            engine.progress(); // until the engine is being closed
                        }
                    });
                    pause();
                    left.set(true);
                    dispatcher.leave();
                },
                task -> Thread.ofPlatform().daemon().start(task));
        await(entered);
        engine.close();
        assertTrue(left.get(), "a handler runs though the engine is closed");
        handler.get();
        assertFalse(dispatcher.tryEnter());
        assertFalse(engine.mayDispatch());
    }

    private static void pause() {
        try {
            Thread.sleep(20);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void shouldCloseOnceTheThreadInsideHasLeft() throws Exception {
        AtomicInteger runs = new AtomicInteger();
        Dispatcher dispatcher = new Dispatcher("x", runs::incrementAndGet, () -> true, true);
        assertTrue(dispatcher.tryEnter());
        assertFalse(dispatcher.tryEnter(), "it does not nest");
        assertFalse(dispatcher.close(System.nanoTime() + 60_000_000_000L), "the caller itself is inside");
        CompletableFuture<Boolean> tooSoon = CompletableFuture.supplyAsync(
                () -> dispatcher.close(System.nanoTime() - 1),
                task -> Thread.ofPlatform().start(task));
        assertFalse(tooSoon.get(20, TimeUnit.SECONDS));
        CompletableFuture<Boolean> closing = CompletableFuture.supplyAsync(
                () -> dispatcher.close(System.nanoTime() + 60_000_000_000L),
                task -> Thread.ofPlatform().start(task));
        dispatcher.leave();
        assertTrue(closing.get(20, TimeUnit.SECONDS));
        assertTrue(dispatcher.close(System.nanoTime() - 1), "it is closed already");
        assertFalse(dispatcher.tryEnter());
        assertEquals(0, dispatcher.run(Thread.currentThread()));
        assertEquals(0, runs.get());
    }
}
