package io.madeleine.pmm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.api.SessionException;
import io.madeleine.api.WaitInterruptedException;
import io.madeleine.pmm.spi.Demand;
import io.madeleine.pmm.spi.ProgressSource;
import io.madeleine.pmm.spi.Reactor;
import java.lang.management.ManagementFactory;
import java.nio.channels.SelectableChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * What the engine does for each of its calls. The tests look at its reactor, at its one network and at its own thread.
 * A test that holds the lead itself keeps all others from polling.
 */
@Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class EngineCallsTest {
    private static final long NEVER = ProgressEngine.NO_DEADLINE;
    private static final long HOUR_NS = 3_600_000_000_000L;
    private static final WaitPolicy BLOCK = new WaitPolicy(WaitMode.BLOCK, 0, 0);
    private static final WaitPolicy SPIN = new WaitPolicy(WaitMode.SPIN, 100_000, 3);

    /** Threads look by themselves once a second, so so many of them need about as many seconds if none is told. */
    private static final int TIMES = 10;

    private static final long ALL_TOLD_NS = 5_000_000_000L;

    private final CountingReactor reactor = new CountingReactor();
    private final Demands demands = new Demands();
    private final Network network = new Network();
    private final Waitable news = new Waitable();
    private ProgressEngine engine = open(BLOCK);

    /** Counts its calls, and knows who sleeps in it. */
    private static final class CountingReactor implements Reactor {
        private final SelectorReactor real = new SelectorReactor();
        final AtomicInteger wakeUps = new AtomicInteger();
        final AtomicReference<Thread> sleeper = new AtomicReference<>();

        @Override
        public Registration register(SelectableChannel channel, int operations, ReadyHandler handler) {
            return real.register(channel, operations, handler);
        }

        @Override
        public int poll() {
            return real.poll();
        }

        @Override
        public int sleep(long timeoutNs) {
            sleeper.set(Thread.currentThread());
            try {
                return real.sleep(timeoutNs);
            } finally {
                sleeper.set(null);
            }
        }

        @Override
        public int sleep(long timeoutNs, BooleanSupplier mayHandle) {
            sleeper.set(Thread.currentThread());
            try {
                return real.sleep(timeoutNs, mayHandle);
            } finally {
                sleeper.set(null);
            }
        }

        @Override
        public boolean asksBeforeHandling() {
            return real.asksBeforeHandling();
        }

        @Override
        public void wakeUp() {
            wakeUps.incrementAndGet();
            real.wakeUp();
        }

        @Override
        public void close() {
            real.close();
        }
    }

    /** A network that rings no bell. */
    private static final class Network implements ProgressSource {
        final AtomicInteger arrived = new AtomicInteger();
        final AtomicInteger polls = new AtomicInteger();
        final AtomicReference<Thread> visitor = new AtomicReference<>();
        final AtomicReference<String> violation = new AtomicReference<>();
        volatile Runnable onPoll = () -> {};
        volatile @Nullable InternalError fault;
        volatile boolean recovers;
        private volatile boolean armed;

        @Override
        public int poll(long nowNs) {
            if (armed) {
                violation.set("polled while it is armed");
            }
            polls.incrementAndGet();
            onPoll.run();
            visitor.set(Thread.currentThread());
            InternalError thrown = fault;
            if (thrown != null) {
                fault = null;
                throw thrown;
            }
            return arrived.getAndSet(0);
        }

        @Override
        public boolean recover(InternalError seen) {
            return recovers;
        }

        @Override
        public boolean armForBlocking() {
            armed = true;
            return arrived.get() == 0;
        }

        @Override
        public boolean rearm() {
            return armForBlocking();
        }

        @Override
        public void disarm() {
            armed = false;
        }
    }

    /** Keeps the first thread that comes here until it is let go on. */
    private static final class Gate implements Runnable {
        private final CountDownLatch reached = new CountDownLatch(1);
        private final CountDownLatch open = new CountDownLatch(1);

        @Override
        public void run() {
            reached.countDown();
            try {
                open.await();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }

        void awaitReached() throws InterruptedException {
            assertTrue(reached.await(20, TimeUnit.SECONDS), "nobody came");
        }

        void letGoOn() {
            open.countDown();
        }
    }

    /** A thread that waits until it is told to stop. */
    private final class Waiting {
        private final AtomicBoolean stop = new AtomicBoolean();
        private final Waitable on = new Waitable();
        final AtomicInteger looks = new AtomicInteger();
        final Thread thread;
        private final CompletableFuture<Boolean> met = new CompletableFuture<>();

        Waiting(boolean virtual) {
            this.thread = (virtual ? Thread.ofVirtual() : Thread.ofPlatform().daemon()).start(() -> {
                try {
                    met.complete(engine.await(
                            on,
                            () -> {
                                looks.incrementAndGet();
                                return stop.get();
                            },
                            NEVER));
                } catch (Throwable e) {
                    met.completeExceptionally(e);
                }
            });
        }

        void end() throws Exception {
            stop.set(true);
            engine.signal(on);
            assertTrue(met.get(20, TimeUnit.SECONDS));
            thread.join();
        }
    }

    private ProgressEngine open(WaitPolicy policy) {
        ProgressEngine opened = new ProgressEngine("calls", reactor, policy, demands, SpareProcessorTest.always());
        opened.addSource(network);
        return opened;
    }

    private void reopen(WaitPolicy policy) {
        engine.close();
        engine = open(policy);
    }

    @AfterEach
    void close() {
        engine.close();
        reactor.close();
        assertNull(network.violation.get());
    }

    private static void awaitThat(BooleanSupplier condition, String what) {
        long giveUpNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
        while (!condition.getAsBoolean()) {
            assertTrue(giveUpNs - System.nanoTime() > 0, what);
            Thread.yield();
        }
    }

    private static <T> T apart(boolean virtual, Callable<T> action) throws Exception {
        CompletableFuture<T> result = new CompletableFuture<>();
        (virtual ? Thread.ofVirtual() : Thread.ofPlatform().daemon()).start(() -> {
            try {
                result.complete(action.call());
            } catch (Throwable e) {
                result.completeExceptionally(e);
            }
        });
        try {
            return result.get(20, TimeUnit.SECONDS);
        } catch (ExecutionException e) {
            throw new AssertionError(e.getCause());
        }
    }

    private Thread own() {
        return engine.ownThreadOnDuty();
    }

    private static boolean isParked(Thread thread) {
        return thread.getState() == Thread.State.WAITING || thread.getState() == Thread.State.TIMED_WAITING;
    }

    private void holdLead() {
        awaitThat(() -> engine.tryLead(Thread.currentThread()), "the lead is never free");
    }

    /** Until nobody leads, and the session's own thread waits for demand. */
    private void awaitIdle() {
        engine.lookAgain();
        awaitThat(() -> !engine.isLed() && isParked(own()), "the session's own thread is never idle");
    }

    private void awaitOwnAsleep() {
        awaitThat(
                () -> engine.isLeadAsleep() && reactor.sleeper.get() == own(),
                "the session's own thread does not sleep");
    }

    private void awaitPollBy(Thread thread, Runnable after) {
        network.visitor.set(null);
        after.run();
        awaitThat(() -> network.visitor.get() == thread, "it does not poll");
    }

    private void assertWakes(int count, Runnable call) {
        int before = reactor.wakeUps.get();
        call.run();
        assertEquals(before + count, reactor.wakeUps.get());
    }

    /** While the session's own thread sleeps, which wakes up by itself every three seconds. */
    private void assertInOneOfAFewTries(BooleanSupplier attempt) {
        boolean isMet = false;
        for (int i = 0; i < 5 && !isMet; i++) {
            awaitOwnAsleep();
            isMet = attempt.getAsBoolean();
        }
        assertTrue(isMet);
    }

    private static Dispatcher task(ProgressEngine engine, AtomicInteger work, List<Thread> runners) {
        return engine.addDispatcher(
                "task",
                () -> {
                    runners.add(Thread.currentThread());
                    work.decrementAndGet();
                    return 1;
                },
                () -> work.get() > 0);
    }

    // ---- its own threads

    @Test
    void shouldNameItsOwnThreadsAndEndThem() throws Exception {
        Thread first = own();
        assertEquals("madeleine-progress-calls", first.getName());
        assertTrue(first.isAlive());
        awaitIdle();
        engine.progressThreads().relieve();
        Thread second = own();
        assertEquals("madeleine-progress-calls-1", second.getName());
        first.interrupt(); // so that it finds that it is not on duty
        awaitThat(() -> isParked(first) && isParked(second), "they do not wait");
        engine.close();
        second.join(10_000);
        assertFalse(second.isAlive());
        assertNotSame(Thread.State.TERMINATED, engine.absentThread().getState());
        assertSame(engine.absentThread(), engine.absentThread());
        assertEquals(Thread.State.NEW, engine.absentThread().getState());
    }

    @Test
    void shouldHaveItsOwnThreadPollWhateverDemandsIt() throws Exception {
        Demand demand = demands.newDemand();
        AtomicInteger work = new AtomicInteger();
        List<Thread> runners = new CopyOnWriteArrayList<>();
        Dispatcher task = task(engine, work, runners);
        for (int i = 0; i < 3; i++) {
            awaitIdle();
            awaitPollBy(own(), engine::raiseDemand);
            engine.lowerDemand();
            awaitIdle();
            awaitPollBy(own(), engine::raiseDemandAtOnce);
            engine.lowerDemand();
            awaitIdle();
            awaitPollBy(own(), demand::hold);
            demand.release();
            awaitIdle();
            awaitPollBy(own(), engine::requestRound);
            awaitIdle();
            awaitPollBy(own(), () -> {
                work.set(1);
                engine.dispatch(task, false);
            });
            awaitThat(() -> work.get() == 0, "the task does not run");
            awaitIdle();
            int before = network.polls.get();
            assertEquals(0, apart(true, engine::progress));
            awaitThat(() -> network.polls.get() > before, "it does not poll for a virtual thread");
            assertSame(own(), network.visitor.get());
            awaitIdle();
            network.visitor.set(null);
            Waiting waiting = new Waiting(true);
            awaitThat(() -> network.visitor.get() == own(), "it does not poll for a virtual thread");
            assertEquals(1, engine.demand());
            waiting.end();
            assertEquals(0, engine.demand());
        }
        assertTrue(runners.stream().allMatch(thread -> thread == own()));
    }

    @Test
    void shouldHaveAVirtualThreadWaitForItsOwnRoundsOnly() throws Exception {
        awaitIdle();
        holdLead();
        for (int i = 0; i < 100; i++) {
            assertEquals(0, apart(true, engine::progress));
        }
        assertTrue(engine.isRoundWanted());
        assertEquals(0, network.polls.get(), "another leads");
        engine.releaseLead();
        awaitThat(() -> network.polls.get() > 0, "the round is not made up for");
    }

    // ---- demand

    @Test
    void shouldSayWhatDemandsProgress() {
        awaitIdle();
        holdLead(); // nobody polls
        assertDemand(0, "");
        engine.raiseDemand();
        assertDemand(1, "progress, more than handlers");
        engine.raiseDemand();
        engine.lowerDemand();
        assertDemand(1, "progress, more than handlers");
        engine.lowerDemand();
        assertDemand(0, "");
        Dispatcher handlers = engine.addDispatcher(() -> 0, WaitHint.AUTO);
        assertDemand(1, "progress, handlers");
        engine.raiseDemand();
        assertDemand(2, "progress, more than handlers");
        engine.lowerDemand();
        engine.requestRound();
        assertDemand(1, "progress, a round, more than handlers");
        assertEquals(0, engine.progress());
        assertDemand(1, "progress, handlers");
        Dispatcher task = engine.addDispatcher("task", () -> 0, () -> false);
        assertDemand(1, "progress, handlers");
        Demand demand = demands.newDemand();
        demand.hold();
        assertDemand(1, "progress, more than handlers");
        engine.lowerDemand(); // the handlers'
        assertDemand(0, "progress, adapters, more than handlers");
        assertFalse(engine.areDemandsPolledAside());
        demand.polledAside();
        assertTrue(engine.areDemandsPolledAside());
        demand.release();
        assertDemand(0, "");
        engine.requestRound();
        assertDemand(0, "progress, a round, more than handlers");
        assertEquals(0, engine.progress());
        assertEquals("the session", handlers.name());
        assertEquals("task", task.name());
        engine.releaseLead();
    }

    private void assertDemand(int count, String what) {
        List<String> found = new ArrayList<>();
        if (engine.hasDemand()) {
            found.add("progress");
        }
        if (engine.isRoundWanted()) {
            found.add("a round");
        }
        if (engine.isOnlyForDemands() && engine.hasDemand()) {
            found.add("adapters");
        }
        if (engine.isOnlyForHandlers() && !engine.needsMoreThanHandlers() && engine.demand() > 0) {
            found.add("handlers");
        }
        if (engine.needsMoreThanHandlers()) {
            found.add("more than handlers");
        }
        assertEquals(what, String.join(", ", found));
        assertEquals(count, engine.demand());
        assertEquals(engine.demand() == 0 && !engine.isRoundWanted(), engine.isOnlyForDemands());
    }

    @Test
    void shouldSayWhoLeadsAndHowOftenThreadsHavePolled() throws Exception {
        awaitIdle();
        Thread self = Thread.currentThread();
        assertFalse(engine.isLed() || engine.isLedByAnother(self) || engine.isLeadAsleep());
        int leads = engine.leadCount();
        holdLead();
        assertTrue(engine.isLed() && engine.isLedByAnother(own()));
        assertFalse(engine.isLeadAsleep());
        assertFalse(engine.tryLeadIfFree(self), "it is held");
        assertEquals(leads + 1, engine.leadCount());
        engine.stepAside();
        assertFalse(engine.isLed());
        assertTrue(engine.tryLeadIfFree(self));
        assertEquals(leads + 2, engine.leadCount());
        Dispatcher task = engine.addDispatcher("task", () -> 0, () -> false);
        task.visit();
        task.visit();
        assertEquals(leads + 4, engine.pollCount());
        engine.releaseLead(WaitOutcome.LEAD_IS_GONE);
        assertTrue(engine.isLed(), "another has it by now, or nobody");
        engine.releaseLead(WaitOutcome.MET);
        assertFalse(engine.isLed());
    }

    // ---- who is woken

    @Test
    void shouldWakeALeaderThatSleepsForWhateverItHasToDo() throws Exception {
        AtomicInteger work = new AtomicInteger();
        List<Thread> runners = new CopyOnWriteArrayList<>();
        Dispatcher task = task(engine, work, runners);
        Network another = new Network();
        Waiting leader = new Waiting(false);
        List<Runnable> calls = List.of(
                () -> engine.addSource(another),
                () -> engine.enqueue(() -> true),
                engine::lookAgain,
                engine::requestRound,
                () -> {
                    work.set(1);
                    engine.dispatch(task, false);
                });
        for (Runnable call : calls) {
            awaitThat(() -> reactor.sleeper.get() == leader.thread, "it does not sleep");
            awaitPollBy(leader.thread, () -> assertWakes(1, call));
        }
        awaitThat(() -> reactor.sleeper.get() == leader.thread, "it does not sleep");
        assertWakes(0, () -> engine.dispatch(task, false)); // which has no work
        assertEquals(List.of(leader.thread), runners);
        leader.end();
        awaitIdle();
        holdLead();
        assertWakes(0, () -> engine.enqueue(() -> true));
        assertWakes(0, engine::lookAgain);
        assertWakes(0, engine::requestRound);
        engine.releaseLead();
        assertTrue(another.polls.get() > 0);
    }

    @Test
    void shouldWakeALeaderThatSleepsPastADeadlineOfAnAdapter() throws Exception {
        Demand demand = demands.newDemand();
        Waiting leader = new Waiting(false);
        awaitThat(() -> reactor.sleeper.get() == leader.thread, "it does not sleep");
        demand.hold();
        long nowNs = System.nanoTime();
        awaitPollBy(leader.thread, () -> assertWakes(1, () -> demand.dueAt(nowNs + 2 * HOUR_NS)));
        awaitThat(() -> reactor.sleeper.get() == leader.thread, "it does not sleep");
        assertWakes(0, () -> demand.dueAt(nowNs + 3 * HOUR_NS));
        awaitPollBy(leader.thread, () -> assertWakes(1, () -> demand.dueAt(nowNs + HOUR_NS)));
        demand.release();
        leader.end();
    }

    /** Its own thread may sleep with the lead, or, once another thread has taken the lead, without it. */
    @Test
    void shouldWakeItsOwnThreadInTheReactorOnlyIfThatHasNotTheLead() {
        Demand demand = demands.newDemand();
        demand.hold();
        awaitOwnAsleep();
        assertWakes(0, engine::raiseDemand);
        engine.lowerDemand();
        assertWakes(0, engine::passLeadOn);
        for (Runnable call : List.<Runnable>of(engine::raiseDemand, engine::passLeadOn, engine::turnIsOver)) {
            assertInOneOfAFewTries(() -> {
                holdLead();
                int before = reactor.wakeUps.get();
                call.run();
                boolean isWoken = reactor.wakeUps.get() == before + 1;
                engine.releaseLead();
                if (engine.demand() > 0) {
                    engine.lowerDemand();
                }
                return isWoken;
            });
        }
        demand.release();
        awaitIdle();
    }

    @Test
    void shouldHaveItsOwnThreadMakeWayForAThreadThatCouldLead() throws Exception {
        Gate gate = new Gate();
        awaitIdle();
        network.onPoll = gate;
        engine.raiseDemand();
        gate.awaitReached();
        assertFalse(engine.progressThreadShouldYield(), "for nobody");
        assertWakes(1, engine::relieveProgressThread);
        Waiting seeker = new Waiting(false);
        awaitThat(engine::hasLeadSeekers, "it does not wait");
        assertTrue(engine.progressThreadShouldYield());
        network.onPoll = () -> {};
        awaitPollBy(seeker.thread, gate::letGoOn);
        assertFalse(engine.progressThreadShouldYield());
        assertWakes(0, engine::relieveProgressThread);
        Waiting second = new Waiting(false);
        awaitThat(engine::hasLeadSeekers, "it does not wait");
        assertFalse(engine.progressThreadShouldYield(), "it does not lead");
        second.end();
        seeker.end();
        engine.lowerDemand();
    }

    /** Holds the lead while a thread begins to wait that could lead; then that one gets it. */
    private void assertOffersTheLead(Runnable leaving) throws Exception {
        long startNs = System.nanoTime();
        for (int i = 0; i < TIMES; i++) {
            holdLead();
            Waiting seeker = new Waiting(false);
            awaitThat(() -> engine.hasLeadSeekers() && isParked(seeker.thread), "it does not wait");
            awaitPollBy(seeker.thread, leaving);
            seeker.end();
        }
        long tookNs = System.nanoTime() - startNs;
        assertTrue(tookNs < ALL_TOLD_NS, "threads that wait are not told, which took " + tookNs + " ns");
    }

    @Test
    void shouldOfferTheLeadToAThreadThatWaitsWhenItIsReleased() throws Exception {
        assertOffersTheLead(engine::releaseLead);
        assertOffersTheLead(() -> engine.releaseLead(WaitOutcome.EXPIRED));
    }

    @Test
    void shouldOfferTheFreeLeadToAThreadThatWaits() throws Exception {
        assertOffersTheLead(() -> {
            engine.stepAside();
            engine.turnIsOver();
        });
        assertOffersTheLead(() -> {
            engine.stepAside();
            engine.requestRound();
        });
    }

    @Test
    void shouldOfferTheLeadToAThreadThatWaitsAfterARound() throws Exception {
        assertOffersTheLead(() -> {
            engine.stepAside();
            engine.progress();
        });
        assertOffersTheLead(() -> {
            engine.stepAside();
            assertFalse(engine.await(news, () -> false, System.nanoTime()));
        });
    }

    /** Holds the lead until the engine's own thread waits for it, which has demand; then that one leads. */
    private void assertCallsItsOwnThread(Runnable leaving) throws Exception {
        long tookNs = 0;
        for (int i = 0; i < TIMES; i++) {
            awaitIdle();
            holdLead();
            engine.raiseDemand();
            awaitDeeplyParked();
            long startNs = System.nanoTime();
            awaitPollBy(own(), leaving);
            tookNs += System.nanoTime() - startNs;
            engine.lowerDemand();
        }
        assertTrue(tookNs < ALL_TOLD_NS, "its own thread is not told, which took " + tookNs + " ns");
    }

    /** Until the session's own thread does not look at all for a moment. */
    private void awaitDeeplyParked() throws InterruptedException {
        var threads = ManagementFactory.getThreadMXBean();
        long id = own().threadId();
        long before;
        do {
            before = threads.getThreadInfo(id).getWaitedCount();
            Thread.sleep(20);
        } while (threads.getThreadInfo(id).getWaitedCount() != before);
    }

    @Test
    void shouldCallItsOwnThreadWhenTheLeadIsReleased() throws Exception {
        assertCallsItsOwnThread(engine::releaseLead);
    }

    @Test
    void shouldCallItsOwnThreadWhenTheTurnOfTheVirtualThreadIsOver() throws Exception {
        assertCallsItsOwnThread(() -> {
            engine.stepAside();
            engine.turnIsOver();
        });
    }

    @Test
    void shouldCallItsOwnThreadAfterARound() throws Exception {
        assertCallsItsOwnThread(() -> {
            engine.stepAside();
            engine.progress();
        });
    }

    // ---- rounds

    @Test
    void shouldDoARoundAndLeaveTheLeadAsItWas() throws Exception {
        awaitIdle();
        network.arrived.set(3);
        assertEquals(3, engine.progress());
        assertFalse(engine.isLed());
        holdLead();
        network.arrived.set(2);
        assertEquals(2, engine.progress());
        assertTrue(engine.isLed(), "it has led before");
        network.arrived.set(1);
        assertEquals(0, apart(false, engine::progress), "another leads");
        assertEquals(1, network.arrived.get());
        engine.releaseLead();
        assertThrows(SessionException.class, () -> {
            engine.close();
            engine.progress();
        });
    }

    /** Whether somebody has polled for that, and the session's own thread still sleeps with the lead. */
    private boolean sleepsOn(Runnable call) {
        int polls = network.polls.get();
        int wakeUps = reactor.wakeUps.get();
        call.run();
        return network.polls.get() > polls && reactor.wakeUps.get() == wakeUps && engine.isLeadAsleep();
    }

    @Test
    void shouldDoARoundInPlaceOfItsOwnThreadThatSleeps() {
        Demand demand = demands.newDemand();
        demand.hold();
        awaitOwnAsleep();
        assertInOneOfAFewTries(() -> sleepsOn(() -> assertEquals(0, engine.progress())));
        assertInOneOfAFewTries(() -> sleepsOn(() -> {
            network.arrived.set(1);
            assertTrue(engine.await(news, () -> network.arrived.get() == 0, NEVER));
        }));
        assertInOneOfAFewTries(() -> sleepsOn(() -> assertFalse(engine.await(news, () -> false, System.nanoTime()))));
        demand.release();
        awaitIdle();
    }

    @Test
    void shouldCallNoHandlersInARoundWithinAHandler() {
        AtomicInteger others = new AtomicInteger();
        AtomicInteger within = new AtomicInteger();
        AtomicInteger found = new AtomicInteger(-1);
        awaitIdle();
        holdLead();
        engine.addDispatcher(
                () -> {
                    if (within.getAndIncrement() == 0) {
                        assertTrue(engine.isInHandler());
                        network.arrived.set(2);
                        int before = others.get();
                        found.set(engine.progress());
                        assertEquals(before, others.get());
                    }
                    return 0;
                },
                WaitHint.AUTO);
        Dispatcher other = engine.addDispatcher(others::incrementAndGet, WaitHint.AUTO);
        assertEquals(1, engine.progress());
        assertEquals(2, found.get());
        assertEquals(1, others.get());
        assertFalse(engine.isInHandler());
        engine.lowerDemand(); // the dispatchers', so that nobody leads in between
        engine.lowerDemand();
        awaitThat(() -> isParked(own()), "the session's own thread does not wait");
        engine.stepAside();
        assertTrue(other.tryEnter());
        network.arrived.set(4);
        int before = within.get();
        assertEquals(4, engine.progress());
        assertEquals(before, within.get());
        other.leave();
    }

    @Test
    void shouldGoOnAfterAFaultThatItsNetworkRecoversFrom() {
        awaitIdle();
        network.recovers = true;
        assertTrue(engine.recover(new InternalError("as a test")));
        network.fault = new InternalError("as a test");
        assertEquals(1, engine.progress());
        assertFalse(engine.isLed() || engine.isRoundWanted());
        network.recovers = false;
        assertFalse(engine.recover(new InternalError("as a test")));
        InternalError other = new InternalError("of another");
        network.fault = other;
        assertSame(other, assertThrows(InternalError.class, engine::progress));
        assertFalse(engine.isLed());
        assertEquals(0, engine.progress());
    }

    @Test
    void shouldDoAnotherRoundAfterAHandlerThatHasGivenTheLeadAway() throws Exception {
        for (boolean fails : new boolean[] {false, true}) {
            reopen(BLOCK);
            network.recovers = true;
            AtomicReference<Dispatcher> dispatcher = new AtomicReference<>();
            AtomicInteger calls = new AtomicInteger();
            awaitIdle();
            holdLead();
            dispatcher.set(engine.addDispatcher(
                    () -> {
                        if (calls.getAndIncrement() > 0) {
                            return 0;
                        }
                        Objects.requireNonNull(dispatcher.get()).handling(news);
                        assertFalse(engine.await(news, () -> false, System.nanoTime() + 3_000_000));
                        engine.lowerDemand(); // so that nothing else demands the next round
                        awaitIdle();
                        if (fails) {
                            throw new InternalError("as a test");
                        }
                        return 0;
                    },
                    WaitHint.AUTO));
            assertEquals(1, engine.progress());
            awaitThat(() -> calls.get() > 1, "nobody calls the handlers that are left");
            awaitIdle();
        }
    }

    // ---- tasks

    @Test
    void shouldRunATaskInTheCallingThreadWhereThatIsPermitted() throws Exception {
        AtomicInteger work = new AtomicInteger();
        List<Thread> runners = new CopyOnWriteArrayList<>();
        Dispatcher task = task(engine, work, runners);
        Thread self = Thread.currentThread();
        awaitIdle();
        holdLead();
        work.set(1);
        engine.dispatch(task, true); // this thread leads, but does not poll
        assertEquals(List.of(self), runners);
        assertFalse(engine.isRoundWanted());
        runners.clear();

        work.set(2);
        engine.dispatch(task, true);
        assertEquals(List.of(self), runners, "once; the leader does the rest");
        assertTrue(engine.isRoundWanted());
        assertEquals(1, engine.progress());
        assertEquals(0, work.get());
        runners.clear();

        assertLeftToTheLeader(work, runners, () -> engine.dispatch(task, false));
        assertLeftToTheLeader(work, runners, () -> {
            try {
                assertTrue(apart(true, () -> {
                    engine.dispatch(task, true);
                    return true;
                }));
            } catch (Exception e) {
                throw new AssertionError(e);
            }
        });
        Dispatcher other = engine.addDispatcher("other", () -> 0, () -> false);
        assertLeftToTheLeader(work, runners, () -> {
            assertTrue(other.tryEnter());
            engine.dispatch(task, true);
            other.leave();
        });
        AtomicBoolean ranInPoll = new AtomicBoolean();
        network.onPoll = () -> {
            network.onPoll = () -> {};
            work.set(1);
            engine.dispatch(task, true);
            ranInPoll.set(work.get() == 0);
        };
        assertEquals(1, engine.progress());
        assertFalse(ranInPoll.get());
        engine.releaseLead();
    }

    private void assertLeftToTheLeader(AtomicInteger work, List<Thread> runners, Runnable dispatch) {
        work.set(1);
        dispatch.run();
        assertEquals(List.of(), runners);
        assertTrue(engine.isRoundWanted());
        assertEquals(1, engine.progress());
        assertEquals(0, work.get());
        assertFalse(engine.isRoundWanted());
        runners.clear();
    }

    @Test
    void shouldRunAllTasksOfAClosedEngineInTheCallingThread() {
        AtomicInteger work = new AtomicInteger(3);
        List<Thread> runners = new CopyOnWriteArrayList<>();
        Dispatcher task = task(engine, work, runners);
        AtomicInteger vain = new AtomicInteger();
        Dispatcher stuck = engine.addDispatcher(
                "stuck",
                () -> {
                    vain.incrementAndGet();
                    return 0;
                },
                () -> true);
        engine.close();
        engine.dispatch(task, false);
        assertEquals(0, work.get());
        assertEquals(3, runners.size());
        work.set(2);
        engine.dispatch(task, true);
        assertEquals(0, work.get());
        engine.dispatchRest(stuck);
        assertEquals(1, vain.get(), "it has done nothing, so it is left");
        assertFalse(engine.isRoundWanted());
    }

    @Test
    void shouldSayWhoMayCallHandlersWithoutTheLead() throws Exception {
        awaitIdle();
        assertFalse(engine.mayDispatch(), "threads are to sleep");
        assertFalse(engine.maySpin());
        reopen(SPIN);
        assertTrue(engine.maySpin());
        assertFalse(apart(true, engine::maySpin));
        awaitIdle();
        assertTrue(engine.mayDispatch());
        assertFalse(apart(true, engine::mayDispatch));
        holdLead();
        assertTrue(apart(false, engine::mayDispatch));
        assertFalse(engine.mayDispatch(), "it leads");
        engine.releaseLead();
        Dispatcher task = engine.addDispatcher("task", () -> 0, () -> false);
        assertTrue(task.tryEnter());
        assertFalse(engine.mayDispatch(), "it runs a handler");
        task.leave();
        assertTrue(engine.mayDispatch());
        engine.close();
        assertFalse(engine.mayDispatch());
    }

    @Test
    void shouldHeedTheHintOfHandlersWhereverAThreadWaits() throws Exception {
        long spinNs = HOUR_NS;
        reopen(new WaitPolicy(WaitMode.ADAPTIVE, spinNs, 0));
        AtomicInteger calls = new AtomicInteger();
        Dispatcher named = engine.addDispatcher("handlers", calls::getAndIncrement, () -> false, WaitHint.CPU);
        assertEquals("handlers", named.name());
        Waiting leader = new Waiting(false);
        awaitThat(() -> reactor.sleeper.get() == leader.thread, "it spins");
        leader.end();
        assertEquals(0, calls.get(), "it has no work");
        engine.lowerDemand(); // the dispatcher's
    }

    // ---- sources

    @Test
    void shouldRemoveASourceOnceAndPollItAgainIfItIsAddedAgain() throws Exception {
        awaitIdle();
        Network other = new Network();
        engine.addSource(other);
        engine.progress();
        assertEquals(1, other.polls.get());
        engine.removeSource(other); // leads itself for that
        assertFalse(engine.isLed());
        int before = other.polls.get();
        engine.progress();
        assertEquals(before, other.polls.get());
        engine.addSource(other);
        engine.progress();
        engine.progress();
        assertEquals(before + 2, other.polls.get());
        holdLead();
        engine.removeSource(other); // at once: it leads
        engine.progress();
        assertEquals(before + 2, other.polls.get());
        engine.releaseLead();
        engine.addSource(other);
        engine.close();
        engine.removeSource(other); // at once: nobody polls
    }

    @Test
    void shouldTellAVirtualThreadThatItsSourceIsRemoved() throws Exception {
        Waiting leader = new Waiting(false);
        for (int i = 0; i < 20; i++) {
            awaitThat(() -> reactor.sleeper.get() == leader.thread, "it does not sleep");
            Network other = new Network();
            engine.addSource(other);
            awaitThat(() -> other.polls.get() > 0, "it is not polled");
            Gate gate = new Gate();
            awaitThat(() -> reactor.sleeper.get() == leader.thread, "it does not sleep");
            network.onPoll = gate; // until the thread waits
            engine.lookAgain();
            gate.awaitReached();
            CompletableFuture<Void> removed = new CompletableFuture<>();
            Thread remover = Thread.ofVirtual().start(() -> {
                engine.removeSource(other);
                removed.complete(null);
            });
            awaitThat(() -> isParked(remover), "it does not wait");
            assertFalse(removed.isDone(), "another thread polls");
            network.onPoll = () -> {};
            gate.letGoOn();
            removed.get(20, TimeUnit.SECONDS);
        }
        leader.end();
    }

    // ---- waits

    @Test
    void shouldLetAConditionOfTheLeaderWait() {
        Thread self = Thread.currentThread();
        AtomicBoolean nested = new AtomicBoolean();
        assertTrue(engine.await(
                news,
                () -> {
                    if (!engine.isLed() || nested.getAndSet(true)) {
                        return nested.get();
                    }
                    int before = network.polls.get();
                    assertTrue(engine.await(new Waitable(), () -> network.polls.get() > before, soon()));
                    assertSame(self, network.visitor.get());
                    assertFalse(engine.await(new Waitable(), () -> false, System.nanoTime()));
                    assertTrue(engine.isLed());
                    return false;
                },
                NEVER));
        assertTrue(nested.get());
        assertFalse(engine.isLed());
    }

    @Test
    void shouldNotPollForWhatIsThereAlready() {
        awaitIdle();
        assertTrue(engine.await(news, () -> true, NEVER));
        assertEquals(0, network.polls.get());
    }

    @Test
    void shouldEndTheWaitOfAThreadThatDoesNotLeadAtItsDeadline() throws Exception {
        holdLead();
        for (boolean virtual : new boolean[] {false, true}) {
            assertFalse(apart(virtual, () -> engine.await(news, () -> false, System.nanoTime() + 1_000_000)));
        }
        engine.releaseLead();
    }

    @Test
    void shouldTellAHandlerWhetherItsConditionHolds() {
        awaitIdle();
        holdLead();
        AtomicInteger calls = new AtomicInteger();
        AtomicBoolean met = new AtomicBoolean();
        engine.addDispatcher(
                () -> {
                    if (calls.getAndIncrement() == 0) {
                        int before = network.polls.get();
                        met.set(engine.await(news, () -> network.polls.get() > before, soon()));
                    }
                    return 0;
                },
                WaitHint.AUTO);
        engine.progress();
        assertTrue(met.get());
        engine.stepAside();
        engine.lowerDemand(); // the dispatcher's
    }

    private static long soon() {
        return System.nanoTime() + 10_000_000_000L;
    }

    @Test
    void shouldTellWaitersOfChangesAndKnowWhetherThereAreAny() throws Exception {
        for (boolean one : new boolean[] {false, true}) {
            Waiting waiting = new Waiting(true);
            awaitThat(() -> engine.isAwaited(waiting.on) && isParked(waiting.thread), "it does not wait");
            for (int i = 0; i < 5; i++) {
                int before = waiting.looks.get();
                if (one) {
                    engine.signalOne(waiting.on);
                } else {
                    engine.signal(waiting.on);
                }
                awaitThat(() -> waiting.looks.get() > before, "it is not told");
                awaitThat(() -> isParked(waiting.thread) && engine.isAwaited(waiting.on), "it does not wait on");
            }
            waiting.end();
            assertFalse(engine.isAwaited(waiting.on));
        }
    }

    @Test
    void shouldSayWhyAWaitEnds() {
        Thread self = Thread.currentThread();
        engine.checkWait(NEVER);
        self.interrupt();
        assertEquals(
                "the wait was interrupted",
                assertThrows(WaitInterruptedException.class, () -> engine.checkWait(NEVER))
                        .getMessage());
        assertTrue(Thread.interrupted());
        self.interrupt();
        assertEquals(
                "the wait was interrupted before its deadline",
                assertThrows(WaitInterruptedException.class, () -> engine.checkWait(0))
                        .getMessage());
        assertTrue(Thread.interrupted());
        engine.close();
        assertEquals(
                "the session is closed",
                assertThrows(SessionException.class, () -> engine.checkWait(NEVER))
                        .getMessage());
    }

    /** Does something in each poll of the session's own thread, and waits until that has been done. */
    private void inOwnPoll(Consumer<Thread> action) {
        CompletableFuture<Void> done = new CompletableFuture<>();
        network.onPoll = () -> {
            network.onPoll = () -> {};
            try {
                action.accept(Thread.currentThread());
                done.complete(null);
            } catch (Throwable e) {
                done.completeExceptionally(e);
            }
        };
        engine.raiseDemand();
        done.orTimeout(20, TimeUnit.SECONDS).join();
        engine.lowerDemand();
        awaitIdle();
    }

    @Test
    void shouldKeepInterruptsFromItsOwnThreads() {
        awaitIdle();
        inOwnPoll(thread -> {
            thread.interrupt();
            engine.checkWait(NEVER); // does not throw
            assertFalse(thread.isInterrupted());
            engine.afterUsersCode(true);
            assertFalse(thread.isInterrupted());
            thread.interrupt();
            engine.afterUsersCode(false);
            assertFalse(thread.isInterrupted());
        });
    }

    @Test
    void shouldGiveAnInterruptBackToAThreadOfTheUser() {
        Thread self = Thread.currentThread();
        engine.afterUsersCode(false);
        assertFalse(self.isInterrupted());
        engine.afterUsersCode(true);
        assertTrue(self.isInterrupted());
        engine.afterUsersCode(false);
        assertTrue(Thread.interrupted(), "it was interrupted meanwhile");
        self.interrupt();
        ProgressEngine.afterFreedMemory();
        assertFalse(self.isInterrupted());
    }

    @Test
    void shouldHoldAnInterruptWhileAHandlerWaits() {
        awaitIdle();
        holdLead();
        AtomicInteger calls = new AtomicInteger();
        AtomicBoolean keptForLater = new AtomicBoolean();
        AtomicBoolean met = new AtomicBoolean(true);
        engine.addDispatcher(
                () -> {
                    if (calls.getAndIncrement() == 0) {
                        Thread.currentThread().interrupt();
                        met.set(engine.await(news, () -> false, System.nanoTime() + 1_000_000));
                        keptForLater.set(Thread.interrupted());
                    }
                    return 0;
                },
                WaitHint.AUTO);
        engine.progress();
        assertFalse(met.get());
        assertTrue(keptForLater.get());
        engine.stepAside();
        engine.lowerDemand(); // the dispatcher's
    }

    // ---- virtual threads

    @Test
    void shouldNumberTheVirtualThreadsThatItStarts() throws Exception {
        Executor threads = engine.virtualThreads("calls-");
        for (int i = 0; i < 3; i++) {
            CompletableFuture<Thread> ran = new CompletableFuture<>();
            threads.execute(() -> ran.complete(Thread.currentThread()));
            Thread thread = ran.get(20, TimeUnit.SECONDS);
            assertTrue(thread.isVirtual());
            assertEquals("calls-" + i, thread.getName());
        }
    }

    @Test
    void shouldLeaveTheLeadToAVirtualThreadWhereHandlersStartVirtualThreads() throws Exception {
        reopen(SPIN);
        Executor threads = engine.virtualThreads("calls-");
        AtomicBoolean enough = new AtomicBoolean();
        AtomicInteger demandThen = new AtomicInteger();
        AtomicReference<Throwable> failure = new AtomicReference<>();
        network.onPoll = () -> {
            Thread thread = Thread.currentThread();
            if (thread.isVirtual() && engine.demand() > 1) {
                demandThen.set(engine.demand());
                try {
                    thread.interrupt();
                    engine.checkWait(NEVER); // does not throw
                    thread.interrupt();
                    engine.afterUsersCode(true);
                    assertFalse(thread.isInterrupted());
                } catch (Throwable e) {
                    failure.set(e);
                }
                enough.set(true);
            }
        };
        engine.addDispatcher(
                () -> {
                    if (enough.get()) {
                        engine.signal(news);
                        return 0;
                    }
                    threads.execute(() -> {});
                    return 1;
                },
                WaitHint.AUTO);
        assertTrue(engine.await(news, enough::get, System.nanoTime() + 20_000_000_000L));
        assertEquals(2, demandThen.get(), "the handlers', and this thread's while it cannot lead");
        assertEquals(1, engine.demand());
        assertNull(failure.get());
        engine.lowerDemand(); // the dispatcher's
    }

    @Test
    void shouldHaveTheVirtualThreadPollInItsTurn() {
        awaitIdle();
        AtomicBoolean virtually = new AtomicBoolean();
        network.onPoll = () -> {
            if (Thread.currentThread().isVirtual()) {
                virtually.set(true);
            }
        };
        awaitThat(
                () -> { // again if it has got no carrier, for which its turn is ended
                    if (engine.tryLead(Thread.currentThread())) {
                        engine.releaseLead(WaitOutcome.LEFT_TO_VIRTUAL);
                    }
                    LockSupport.parkNanos(5_000_000);
                    return virtually.get();
                },
                "the virtual thread does not poll");
        awaitIdle();
    }

    // ---- the end

    @Test
    void shouldEndTheWaitsOfThreadsThatDoNotLead() throws Exception {
        holdLead();
        List<Waiting> waits = List.of(new Waiting(true), new Waiting(false), new Waiting(true));
        for (Waiting each : waits) {
            awaitThat(() -> engine.isAwaited(each.on) && isParked(each.thread), "it does not wait");
        }
        engine.close();
        for (Waiting each : waits) {
            Throwable end = assertThrows(ExecutionException.class, () -> each.met.get(20, TimeUnit.SECONDS));
            assertSame(SessionException.class, end.getCause().getClass());
        }
        assertEquals(0, network.polls.get());
    }

    @Test
    void shouldNotBeClosedByWhoPolls() throws Exception {
        awaitIdle();
        inOwnPoll(_ -> assertThrows(IllegalStateException.class, engine::checkMayClose));
        inOwnPoll(_ -> assertThrows(IllegalStateException.class, engine::close));
        assertFalse(engine.isClosed());
        Gate gate = new Gate();
        network.onPoll = gate;
        engine.raiseDemand();
        gate.awaitReached();
        engine.checkMayClose(); // another thread polls
        network.onPoll = () -> {};
        gate.letGoOn();
        engine.lowerDemand();
        awaitIdle();
        holdLead();
        engine.checkMayClose(); // leads, but does not poll
        engine.close();
        assertTrue(engine.isClosed());
    }

    @Test
    void shouldNotBeClosedBeforeTheLastPollIsOver() throws Exception {
        Gate gate = new Gate();
        AtomicBoolean closed = new AtomicBoolean();
        AtomicBoolean tooSoon = new AtomicBoolean();
        network.onPoll = () -> {
            gate.run();
            tooSoon.set(closed.get());
        };
        CompletableFuture<Throwable> end = new CompletableFuture<>();
        Thread leader = Thread.ofPlatform()
                .start(() -> end.complete(
                        assertThrows(SessionException.class, () -> engine.await(news, () -> false, NEVER))));
        gate.awaitReached();
        Thread closing = Thread.ofPlatform().start(() -> {
            engine.close();
            closed.set(true);
        });
        awaitThat(engine::isClosed, "it is not closed");
        own().join(10_000);
        Thread.sleep(20);
        gate.letGoOn();
        closing.join();
        leader.join();
        assertFalse(tooSoon.get());
        assertTrue(end.isDone());
        assertFalse(engine.tryLead(Thread.currentThread()));
    }

    @Test
    void shouldWaitInCloseForAHandlerAndCallNoneAfterwards() throws Exception {
        boolean waited = false;
        for (int i = 0; i < 5 && !waited; i++) { // a busy machine may need more than the second that it waits
            reopen(BLOCK);
            Dispatcher handlers = engine.addDispatcher(() -> 0, WaitHint.AUTO);
            Dispatcher task = engine.addDispatcher("task", () -> 0, () -> false);
            CountDownLatch inside = new CountDownLatch(1);
            Thread handling = Thread.ofPlatform().start(() -> {
                awaitThat(handlers::tryEnter, "another is inside");
                inside.countDown();
                awaitThat(engine::isClosed, "it is not closed");
                awaitThat(() -> !own().isAlive() && engine.isLed(), "nobody takes the lead for good");
                LockSupport.parkNanos(30_000_000); // so that the close gets here, or gives up
                handlers.leave();
            });
            assertTrue(inside.await(20, TimeUnit.SECONDS));
            engine.close();
            handling.join();
            waited = !handlers.tryEnter();
            assertTrue(task.tryEnter(), "no handler");
        }
        assertTrue(waited, "a handler can be called after the close");
    }

    /** A second, if nobody wakes it. */
    @Test
    void shouldWakeItsOwnThreadToCloseSoon() {
        long leastNs = Long.MAX_VALUE;
        for (int i = 0; i < 5; i++) {
            reopen(BLOCK);
            engine.raiseDemand();
            awaitOwnAsleep();
            long startNs = System.nanoTime();
            engine.close();
            leastNs = Math.min(leastNs, System.nanoTime() - startNs);
        }
        assertTrue(leastNs < 700_000_000, leastNs + " ns at least");
    }
}
