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
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.IntSupplier;
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

    private static Dispatcher withWork(IntSupplier task) {
        return new Dispatcher("x", task, () -> true, true);
    }

    @Test
    void shouldSayWhetherThereIsWorkAndHowMuchOfItWasDone() {
        AtomicInteger left = new AtomicInteger();
        AtomicInteger runs = new AtomicInteger();
        Dispatcher dispatcher = new Dispatcher(
                "x",
                () -> {
                    runs.incrementAndGet();
                    return left.getAndSet(0);
                },
                () -> left.get() > 0,
                true);
        assertFalse(dispatcher.hasWork());
        assertEquals(0, dispatcher.run(Thread.currentThread()));
        assertEquals(0, runs.get(), "a task without work is not called");
        left.set(3);
        assertTrue(dispatcher.hasWork());
        assertEquals(3, dispatcher.run(Thread.currentThread()));
        assertFalse(dispatcher.hasWork());
        assertEquals(1, runs.get());
    }

    /** Whoever called the handler must not go on as leader, and is not held to that when it calls the next. */
    @Test
    void shouldTellTheLeaderThatAHandlerHasReleasedTheLead() {
        AtomicInteger runs = new AtomicInteger();
        AtomicReference<Dispatcher> self = new AtomicReference<>();
        Dispatcher dispatcher = withWork(() -> {
            assertFalse(self.get().hasReleasedLead());
            if (runs.incrementAndGet() == 1) {
                self.get().releaseFromHandler();
                assertTrue(self.get().hasReleasedLead());
            }
            return 5;
        });
        self.set(dispatcher);
        assertEquals(Rounds.LEAD_IS_GONE, dispatcher.run(Thread.currentThread()));
        assertEquals(5, dispatcher.run(Thread.currentThread()));
        assertFalse(dispatcher.hasReleasedLead());
    }

    @Test
    void shouldLetTheNextInAfterATaskThatFails() {
        Dispatcher dispatcher = withWork(() -> {
            throw new StackOverflowError("as a test");
        });
        Thread self = Thread.currentThread();
        assertThrows(StackOverflowError.class, () -> dispatcher.run(self));
        assertFalse(dispatcher.isRunBy(self));
        assertTrue(dispatcher.tryEnter());
        assertTrue(dispatcher.isRunBy(self));
    }

    /** Only for that may the handler wait as long as it takes. */
    @Test
    void shouldKnowTheMessageOfTheHandlerThatRunsNow() {
        Dispatcher dispatcher = withWork(() -> 1);
        Waitable first = new Waitable();
        Waitable second = new Waitable();
        dispatcher.handling(first);
        assertTrue(dispatcher.isOwn(first));
        assertFalse(dispatcher.isOwn(second));
        dispatcher.handling(second);
        assertTrue(dispatcher.isOwn(second));
        assertFalse(dispatcher.isOwn(first));
    }

    /** Its interrupt was meant for what the thread does itself, not for the handler that it happens to run. */
    @Test
    void shouldGiveAnInterruptBackOnceWhenTheWaitOfAHandlerIsOver() {
        Dispatcher dispatcher = withWork(() -> 1);
        dispatcher.giveInterruptBack();
        assertFalse(Thread.interrupted(), "there was none");
        dispatcher.holdInterrupt();
        assertFalse(Thread.currentThread().isInterrupted(), "while the handler waits");
        dispatcher.giveInterruptBack();
        assertTrue(Thread.interrupted());
        dispatcher.giveInterruptBack();
        assertFalse(Thread.interrupted());
    }

    /** The session's own thread polls less while others do. */
    @Test
    void shouldCountThoseWhoPollWithoutTheLead() {
        Rounds rounds = new Rounds(reactor);
        for (int i = 1; i <= 3; i++) {
            Dispatcher visited = withWork(() -> 0);
            rounds.addDispatcher(visited);
            for (int visits = 0; visits < i; visits++) {
                visited.visit();
            }
        }
        assertEquals(1 + 2 + 3, rounds.visits());
    }

    /** What was to be sent still leaves; nobody is called any more who would answer. */
    @Test
    void shouldLetSendTasksRunAfterTheEndButNoHandlers() {
        AtomicInteger unsent = new AtomicInteger();
        Dispatcher sends = engine.addDispatcher("sends", () -> unsent.getAndSet(0), () -> unsent.get() > 0);
        engine.close();
        unsent.set(1);
        engine.dispatch(sends, false);
        assertEquals(0, unsent.get());
        queued.incrementAndGet();
        engine.dispatchRest(dispatcher);
        assertEquals(0, handled.get());
    }
}
