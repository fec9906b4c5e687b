package io.madeleine.pmm;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import io.madeleine.api.SessionException;
import io.madeleine.api.WaitInterruptedException;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

@ParameterizedClass
@EnumSource(WaitMode.class)
@Timeout(value = 30, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ProgressEngineTest {
    private static final long PATIENCE_NS = 10_000_000_000L;

    @Parameter
    WaitMode mode;

    private SelectorReactor reactor;
    private ProgressEngine engine;
    private FakeNetwork network;
    private final Waitable news = new Waitable();
    private final AtomicInteger received = new AtomicInteger();

    @BeforeEach
    void open() {
        reactor = new SelectorReactor();
        engine = new ProgressEngine("test", reactor, new WaitPolicy(mode, 20_000, 5));
        network = new FakeNetwork(reactor);
        network.listener = () -> {
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
        assertEquals(0, engine.demand());
    }

    private static long in(long milliseconds) {
        return System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(milliseconds);
    }

    private boolean awaitReceived(int count) {
        return engine.await(news, () -> received.get() >= count, System.nanoTime() + PATIENCE_NS);
    }

    /** Runs in a thread of its own; the future tells how it went. */
    private static <T> CompletableFuture<T> async(boolean virtual, java.util.concurrent.Callable<T> action) {
        CompletableFuture<T> future = new CompletableFuture<>();
        (virtual ? Thread.ofVirtual() : Thread.ofPlatform().daemon()).start(() -> {
            try {
                future.complete(action.call());
            } catch (Throwable e) {
                future.completeExceptionally(e);
            }
        });
        return future;
    }

    private static Throwable failureOf(CompletableFuture<?> future) {
        return assertThrows(java.util.concurrent.ExecutionException.class, () -> future.get(10, TimeUnit.SECONDS))
                .getCause();
    }

    /** Until a thread leads, the session's own or another. */
    private void awaitLead() {
        while (!engine.isLed()) {
            Thread.yield();
        }
    }

    /** Begins a wait of a thread that leads, and returns when it does. */
    private <T> CompletableFuture<T> leading(java.util.concurrent.Callable<T> wait) {
        network.lastVisitor.set(engine.ownThreadOnDuty());
        CompletableFuture<T> future = async(false, wait);
        while (network.lastVisitor.get() == engine.ownThreadOnDuty()) {
            Thread.yield();
        }
        return future;
    }

    private static void pause(int milliseconds) {
        try {
            Thread.sleep(milliseconds);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    // ---- who leads

    @Test
    @Tag("measures")
    void shouldNotTakeTheLeadFromAThreadThatTakesItAgainAndAgain() {
        AtomicInteger rounds = new AtomicInteger();
        AtomicInteger tooSoon = new AtomicInteger();
        AtomicLong ownNs = new AtomicLong(Long.MIN_VALUE);
        IntSupplier dispatcher = () -> {
            if (Thread.currentThread() == engine.ownThreadOnDuty()) {
                long leftNs = ownNs.getAndSet(Long.MIN_VALUE);
                tooSoon.addAndGet(leftNs != Long.MIN_VALUE && System.nanoTime() - leftNs < 90_000 ? 1 : 0);
            } else {
                rounds.incrementAndGet();
                ownNs.set(System.nanoTime());
            }
            return 0;
        };
        engine.addDispatcher(dispatcher, WaitHint.AUTO); // for which the session's thread leads
        int fewest = Integer.MAX_VALUE;
        // the session's thread may lose its processor between its look at the others and its try for the lead
        for (int i = 0; i < 10 && fewest > 2; i++) {
            tooSoon.set(0);
            leadAgainAndAgain(rounds);
            while (ownNs.get() != Long.MIN_VALUE) { // now that it is left, the lead is taken
                LockSupport.parkNanos(100_000);
            }
            fewest = Math.min(fewest, tooSoon.get());
        }
        engine.lowerDemand();
        assertTrue(fewest <= 2, fewest + " times, the first perhaps for the signal of its demand");
    }

    /** Waits for a round, and leaves the lead for 20 us, for a tenth of a second. */
    private void leadAgainAndAgain(AtomicInteger rounds) {
        long startNs = System.nanoTime();
        while (System.nanoTime() - startNs < 100_000_000) {
            int before = rounds.get();
            assertTrue(engine.await(news, () -> rounds.get() > before, in(5_000)));
            long leftNs = System.nanoTime();
            while (System.nanoTime() - leftNs < 20_000) {
                Thread.onSpinWait();
            }
        }
    }

    @Test
    @Tag("measures")
    void shouldTellNetworksTheTimeAfterASleep() {
        assertFalse(engine.await(news, () -> false, in(20)));
        long leastNs = Long.MAX_VALUE; // a thread may lose its processor between the clock and the network
        for (int i = 0; i < 3 && leastNs >= 250_000_000; i++) {
            network.longestDelayNs = 0;
            Thread sender = Thread.ofPlatform().start(() -> {
                pause(300);
                network.send();
            });
            int before = received.get();
            assertTrue(awaitReceived(before + 1));
            leastNs = Math.min(leastNs, network.longestDelayNs);
            assertDoesNotThrow(() -> sender.join());
        }
        assertTrue(leastNs < 250_000_000, leastNs + " ns");
    }

    // ---- ends of waits

    @Test
    @Tag("measures")
    void shouldNotAllocateForAWaitAsAFollower() throws Exception {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        int warm = 500;
        int count = 500;
        AtomicBoolean stop = new AtomicBoolean();
        AtomicInteger wanted = new AtomicInteger();
        AtomicInteger given = new AtomicInteger();
        Waitable other = new Waitable();
        var leader = async(false, () -> engine.await(other, stop::get, in(20_000)));
        var giver = async(false, () -> {
            while (!stop.get()) {
                if (given.get() < wanted.get() && engine.isAwaited(news)) {
                    given.incrementAndGet();
                    engine.signalOne(news);
                }
                Thread.yield();
            }
            return true;
        });
        awaitLead(); // by the other thread: who leads is not signalled
        Condition isGiven = () -> given.get() == wanted.get();
        long beforeBytes = 0;
        for (int i = 0; i < warm + count; i++) {
            if (i == warm) {
                beforeBytes = threads.getCurrentThreadAllocatedBytes();
            }
            wanted.incrementAndGet();
            assertTrue(engine.await(news, isGiven, ProgressEngine.NO_DEADLINE));
        }
        long bytes = threads.getCurrentThreadAllocatedBytes() - beforeBytes;
        stop.set(true);
        engine.signal(other);
        assertTrue(leader.get());
        assertTrue(giver.get());
        assertTrue(bytes < count, () -> bytes + " bytes for " + count + " waits");
    }

    @Test
    void shouldLetNobodySpinWhoMustNot() throws Exception {
        assertEquals(mode != WaitMode.BLOCK, engine.maySpin());
        assertFalse(async(true, engine::maySpin).get());
        try (ProgressEngine crowded = new ProgressEngine("crowded", reactor, new WaitPolicy(mode, 0, 5))) {
            assertEquals(mode == WaitMode.SPIN, crowded.maySpin(), "where processes outnumber cores");
        }
    }

    @Test
    void shouldNotWaitForWhatIsThereAlready() {
        assertTrue(engine.await(news, () -> true, in(-1)));
        assertEquals(0, network.pollCount.get());
    }

    @Test
    void shouldGiveUpAtTheDeadline() {
        long startNs = System.nanoTime();
        assertFalse(engine.await(news, () -> false, in(30)));
        assertTrue(System.nanoTime() - startNs >= 30_000_000);
        assertFalse(engine.await(news, () -> false, in(-5)));
    }

    @Test
    void shouldGiveUpAtTheDeadlineThoughThereIsAlwaysNewsForOthers() {
        network.busy = true;
        assertFalse(engine.await(news, () -> false, in(30)));
    }

    @Test
    void shouldGiveUpAtTheDeadlineAsAFollower() throws Exception {
        for (boolean virtual : new boolean[] {false, true}) {
            AtomicBoolean stop = new AtomicBoolean();
            Waitable other = new Waitable();
            var leader = async(false, () -> engine.await(other, stop::get, in(20_000)));
            awaitLead();
            assertFalse(async(virtual, () -> engine.await(news, () -> false, in(30)))
                    .get());
            stop.set(true);
            engine.signal(other);
            assertTrue(leader.get());
        }
    }

    @Test
    void shouldEndTheLeadersWaitWhenItIsInterrupted() {
        for (boolean busy : new boolean[] {false, true}) {
            network.busy = busy;
            AtomicReference<Thread> waiter = new AtomicReference<>();
            AtomicBoolean stillInterrupted = new AtomicBoolean();
            var wait = async(false, () -> {
                waiter.set(Thread.currentThread());
                try {
                    return engine.await(news, () -> false, ProgressEngine.NO_DEADLINE);
                } finally {
                    stillInterrupted.set(Thread.currentThread().isInterrupted());
                }
            });
            while (waiter.get() == null) {
                Thread.yield();
            }
            pause(20);
            waiter.get().interrupt();
            assertInstanceOf(WaitInterruptedException.class, failureOf(wait));
            assertTrue(stillInterrupted.get());
        }
    }

    @Test
    void shouldEndAFollowersWaitWhenItIsInterrupted() throws Exception {
        AtomicBoolean stop = new AtomicBoolean();
        Waitable other = new Waitable();
        var leader = async(false, () -> engine.await(other, stop::get, in(20_000)));
        awaitLead();
        for (boolean virtual : new boolean[] {false, true}) {
            AtomicReference<Thread> waiter = new AtomicReference<>();
            var wait = async(virtual, () -> {
                waiter.set(Thread.currentThread());
                return engine.await(news, () -> false, ProgressEngine.NO_DEADLINE);
            });
            while (waiter.get() == null) {
                Thread.yield();
            }
            pause(20);
            waiter.get().interrupt();
            assertInstanceOf(WaitInterruptedException.class, failureOf(wait));
        }
        stop.set(true);
        engine.signal(other);
        assertTrue(leader.get());
    }

    @Test
    void shouldEndAllWaitsWhenItIsClosedAndPollNoMore() {
        for (boolean busy : new boolean[] {false, true}) {
            network.busy = busy;
            var leader = async(false, () -> engine.await(news, () -> false, ProgressEngine.NO_DEADLINE));
            var follower = async(false, () -> engine.await(news, () -> false, ProgressEngine.NO_DEADLINE));
            var virtual = async(true, () -> engine.await(news, () -> false, ProgressEngine.NO_DEADLINE));
            pause(20);
            engine.close();
            network.freed = true;
            assertInstanceOf(SessionException.class, failureOf(leader));
            assertInstanceOf(SessionException.class, failureOf(follower));
            assertInstanceOf(SessionException.class, failureOf(virtual));
            assertNull(network.violation.get());
            open();
        }
    }

    @Test
    void shouldRefuseWaitsAfterTheCloseWithoutPolling() {
        engine.close();
        network.freed = true;
        engine.close();
        assertThrows(SessionException.class, () -> engine.await(news, () -> false, in(50)));
        assertThrows(SessionException.class, engine::progress);
        assertInstanceOf(
                SessionException.class, failureOf(async(false, () -> engine.await(news, () -> false, in(50)))));
        assertInstanceOf(SessionException.class, failureOf(async(true, () -> engine.await(news, () -> false, in(50)))));
    }

    // ---- who polls

    @Test
    void shouldPollOnBehalfOfTheThreadThatWaits() {
        AtomicReference<Thread> poller = new AtomicReference<>();
        network.listener = () -> {
            poller.set(Thread.currentThread());
            received.incrementAndGet();
        };
        network.send();
        assertTrue(awaitReceived(1));
        assertEquals(Thread.currentThread(), poller.get());
    }

    @Test
    void shouldWakeTheLeaderByNewsOfANetwork() throws Exception {
        for (int i = 1; i <= 200; i++) {
            int count = i;
            var wait = async(false, () -> awaitReceived(count));
            if (i % 10 == 0) {
                pause(1);
            }
            network.send();
            assertTrue(wait.get(), "wait " + i);
        }
    }

    @Test
    void shouldHandTheLeadOnWhenTheLeaderLeaves() throws Exception {
        for (int i = 0; i < 50; i++) {
            AtomicBoolean stop = new AtomicBoolean();
            Waitable other = new Waitable();
            var leader = async(false, () -> engine.await(other, stop::get, in(10_000)));
            int count = received.get() + 1;
            var follower = async(false, () -> awaitReceived(count));
            var third = async(true, () -> awaitReceived(count));
            if (i % 5 == 0) {
                pause(1);
            }
            stop.set(true);
            engine.signal(other);
            assertTrue(leader.get());
            network.send();
            assertTrue(follower.get());
            assertTrue(third.get());
        }
    }

    @Test
    void shouldPollForVirtualThreadsByThreadsOfItsOwn() throws Exception {
        AtomicReference<Thread> poller = new AtomicReference<>();
        network.listener = () -> {
            poller.set(Thread.currentThread());
            received.incrementAndGet();
            engine.signal(news);
        };
        for (int i = 1; i <= 100; i++) {
            int count = i;
            var wait = async(true, () -> awaitReceived(count));
            if (i % 10 == 0) {
                pause(1);
            }
            network.send();
            assertTrue(wait.get());
            assertTrue(poller.get().getName().contains("progress-test"), () -> "polled by " + poller.get());
        }
    }

    @Test
    void shouldLetAThreadThatWaitsForItselfTakeTheLeadFromTheSessionsOwn() throws Exception {
        AtomicReference<Thread> poller = new AtomicReference<>();
        network.listener = () -> {
            poller.set(Thread.currentThread());
            received.incrementAndGet();
            engine.signal(news);
        };
        AtomicBoolean stop = new AtomicBoolean();
        Waitable other = new Waitable();
        var virtual = async(true, () -> engine.await(other, stop::get, in(20_000)));
        awaitLead();
        AtomicReference<Thread> waiter = new AtomicReference<>();
        var platform = leading(() -> {
            waiter.set(Thread.currentThread());
            return awaitReceived(1);
        });
        network.send();
        assertTrue(platform.get());
        assertEquals(waiter.get(), poller.get());

        network.send(); // now nobody else is there to poll
        long deadlineNs = in(10_000);
        while (received.get() < 2 && deadlineNs - System.nanoTime() > 0) {
            Thread.onSpinWait();
        }
        assertEquals(2, received.get());
        assertEquals(engine.ownThreadOnDuty(), poller.get());
        stop.set(true);
        engine.signal(other);
        assertTrue(virtual.get());
    }

    @Test
    void shouldDriveTheNetworksWhenAsked() {
        network.send();
        assertEquals(1, engine.progress());
        assertEquals(0, engine.progress());
        assertEquals(1, received.get());
    }

    @Test
    void shouldDriveTheNetworksWhenAVirtualThreadAsksInALoop() throws Exception {
        for (int i = 1; i <= 20; i++) {
            int count = i;
            network.send();
            assertTrue(async(true, () -> {
                        long deadlineNs = in(5_000);
                        while (received.get() < count && deadlineNs - System.nanoTime() > 0) {
                            engine.progress();
                        }
                        return received.get() >= count;
                    })
                    .get());
        }
    }

    @Test
    @Tag("measures")
    void shouldNotPollWhileThereIsNothingToDo() throws Exception {
        if (mode == WaitMode.SPIN) {
            return;
        }
        AtomicBoolean stop = new AtomicBoolean();
        var wait = async(false, () -> engine.await(news, stop::get, in(20_000)));
        while (network.pollCount.get() == 0) {
            pause(1);
        }
        assertTrue(fewestPolls(20) < 20, "an idle engine polls");
        stop.set(true);
        engine.signal(news);
        assertTrue(wait.get());
        assertEquals(0, fewestPolls(1));
    }

    /** Returns the fewest polls within a moment, of some moments if not fewer than so many: threads may be slow. */
    private int fewestPolls(int enough) {
        int fewest = Integer.MAX_VALUE;
        for (int i = 0; i < 20 && fewest >= enough; i++) {
            pause(50);
            int before = network.pollCount.get();
            pause(100);
            fewest = Math.min(fewest, network.pollCount.get() - before);
        }
        return fewest;
    }

    // ---- signals for one

    /** Waits on {@code news} for one of the tokens and takes it; the future is true if it got one. */
    private CompletableFuture<Boolean> takeToken(boolean virtual, AtomicInteger tokens, long deadlineNs) {
        return async(virtual, () -> hasTakenToken(tokens, deadlineNs));
    }

    private boolean hasTakenToken(AtomicInteger tokens, long deadlineNs) {
        while (true) {
            if (!engine.await(news, () -> tokens.get() > 0, deadlineNs)) {
                return false;
            }
            int seen = tokens.get();
            if (seen > 0 && tokens.compareAndSet(seen, seen - 1)) {
                return true;
            }
        }
    }

    @Test
    @Tag("measures")
    void shouldWakeOneWaiterForEachChangeThatServesOne() throws Exception {
        AtomicInteger tokens = new AtomicInteger();
        AtomicInteger looks = new AtomicInteger();
        int waiters = 50;
        List<CompletableFuture<Boolean>> waits = new ArrayList<>();
        for (int i = 0; i < waiters; i++) {
            waits.add(async(true, () -> {
                boolean met = engine.await(
                        news,
                        () -> {
                            looks.incrementAndGet();
                            int seen = tokens.get();
                            return seen > 0 && tokens.compareAndSet(seen, seen - 1);
                        },
                        in(20_000));
                return met;
            }));
        }
        while (looks.get() < 2 * waiters) { // each looks before it is registered, and after
            pause(1);
        }
        pause(50);
        looks.set(0);
        for (int i = 0; i < waiters; i++) {
            tokens.incrementAndGet();
            engine.signalOne(news);
            pause(1);
        }
        for (CompletableFuture<Boolean> wait : waits) {
            assertTrue(wait.get(10, TimeUnit.SECONDS));
        }
        assertTrue(looks.get() <= 3 * waiters, "conditions were asked " + looks + " times for " + waiters + " changes");
    }

    @Test
    void shouldTellAgainOneThatWasToldInVainWhileItLooked() throws Exception {
        AtomicBoolean change = new AtomicBoolean();
        AtomicInteger looks = new AtomicInteger();
        var waiting = async(
                true,
                () -> engine.await(
                        news,
                        () -> {
                            if (looks.incrementAndGet()
                                    == 2) { // registered by now: told, but another one has been faster
                                engine.signalOne(news);
                                LockSupport.parkNanos(1); // as a spin lock does that is held: the permit is gone
                            }
                            return change.get();
                        },
                        in(20_000)));
        while (looks.get() < 2) {
            pause(1);
        }
        pause(50);
        change.set(true);
        engine.signalOne(news);
        assertTrue(waiting.get(5, TimeUnit.SECONDS), "it is told of the next change");
    }

    @Test
    void shouldLookAgainAfterASignalThatCameWhileItLooked() throws Exception {
        AtomicBoolean change = new AtomicBoolean();
        AtomicInteger looks = new AtomicInteger();
        var waiting = async(
                true,
                () -> engine.await(
                        news,
                        () -> {
                            boolean seen = change.get();
                            if (looks.incrementAndGet() == 2) { // registered by now
                                change.set(true);
                                engine.signal(news);
                                LockSupport.parkNanos(1); // as a spin lock does that is held: the permit is gone
                            }
                            return seen;
                        },
                        in(20_000)));
        assertTrue(waiting.get(5, TimeUnit.SECONDS), "the signal counts");
    }

    /** One whose deadline has come looks once more when it was told; one that is interrupted does not. */
    @Test
    void shouldTellTheNextWhenTheOneThatWasToldGivesUp() throws Exception {
        AtomicBoolean stop = new AtomicBoolean();
        Waitable other = new Waitable();
        var leader = async(false, () -> engine.await(other, stop::get, in(20_000)));
        awaitLead();
        AtomicBoolean change = new AtomicBoolean();
        AtomicBoolean armed = new AtomicBoolean();
        AtomicInteger looks = new AtomicInteger();
        AtomicReference<Thread> thread = new AtomicReference<>();
        var impatient = async(true, () -> {
            thread.set(Thread.currentThread());
            return engine.await(
                    news,
                    () -> {
                        looks.incrementAndGet();
                        if (armed.compareAndSet(true, false)) { // told after it has looked, and before it gives up
                            change.set(true);
                            engine.signalOne(news);
                        }
                        return false;
                    },
                    in(20_000));
        });
        awaitLooks(looks, impatient);
        AtomicInteger looksOfNext = new AtomicInteger();
        var patient = async(
                true,
                () -> engine.await(
                        news,
                        () -> {
                            looksOfNext.incrementAndGet();
                            return change.get();
                        },
                        in(20_000)));
        awaitLooks(looksOfNext, patient);
        armed.set(true);
        thread.get().interrupt();
        assertInstanceOf(WaitInterruptedException.class, failureOf(impatient));
        assertTrue(patient.get(10, TimeUnit.SECONDS), "the change was taken along by the one that gave up");
        stop.set(true);
        engine.signal(other);
        assertTrue(leader.get());
    }

    /** Until a follower has looked twice: the second time it is registered. */
    private static void awaitLooks(AtomicInteger looks, CompletableFuture<?> wait) {
        while (looks.get() < 2 && !wait.isDone()) {
            pause(1);
        }
    }

    @Test
    @Tag("measures")
    void shouldNotWakeAnotherForWhatTheLeaderWaitsForItself() throws Exception {
        AtomicInteger tokens = new AtomicInteger();
        AtomicInteger looks = new AtomicInteger();
        network.listener = () -> {
            tokens.incrementAndGet();
            engine.signalOne(news);
        };
        var follower = async(
                true,
                () -> engine.await(
                        news,
                        () -> {
                            looks.incrementAndGet();
                            return tokens.get() < 0;
                        },
                        in(20_000)));
        awaitLooks(looks, follower);
        for (int i = 0; i < 20; i++) {
            var leader = leading(() -> hasTakenToken(tokens, in(20_000)));
            if (i == 0) {
                looks.set(0);
            }
            network.send();
            assertTrue(leader.get());
        }
        assertTrue(looks.get() <= 5, "the follower looked " + looks + " times");
        tokens.set(-1);
        engine.signal(news);
        assertTrue(follower.get());
    }

    @Test
    void shouldServeAllByChangesThatServeOneWhoeverLeads() throws Exception {
        AtomicInteger tokens = new AtomicInteger();
        network.listener = () -> {
            tokens.incrementAndGet();
            engine.signalOne(news);
        };
        Random random = new Random(7);
        for (int round = 0; round < 30; round++) {
            List<CompletableFuture<Boolean>> waits = new ArrayList<>();
            for (int i = 0; i < 12; i++) {
                waits.add(takeToken(random.nextInt(3) > 0, tokens, in(10_000)));
            }
            List<CompletableFuture<Boolean>> impatient = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                impatient.add(takeToken(random.nextBoolean(), tokens, in(random.nextInt(3))));
            }
            for (int i = 0; i < 12; i++) {
                if (random.nextBoolean()) {
                    network.send();
                } else {
                    tokens.incrementAndGet();
                    engine.signalOne(news);
                }
            }
            for (CompletableFuture<Boolean> wait : impatient) {
                if (wait.get(10, TimeUnit.SECONDS)) { // it took another's
                    network.send();
                }
            }
            for (CompletableFuture<Boolean> wait : waits) {
                assertTrue(wait.get(10, TimeUnit.SECONDS), "round " + round + ", tokens left: " + tokens);
            }
            assertEquals(0, tokens.get());
        }
    }

    // ---- steps, handlers and what they may do

    @Test
    void shouldPollANetworkNoMoreOnceItIsRemoved() throws Exception {
        CompletableFuture<Boolean> waiting = async(false, () -> awaitReceived(1)); // leads all the time
        for (int i = 0; i < 20; i++) {
            try (SelectorReactor reactorOfAnother = new SelectorReactor()) {
                FakeNetwork comesAndGoes = new FakeNetwork(reactorOfAnother);
                engine.addSource(comesAndGoes);
                if (i % 2 == 0) {
                    Thread.sleep(2);
                }
                engine.removeSource(comesAndGoes);
                comesAndGoes.freed = true;
                Thread.sleep(1);
                assertNull(comesAndGoes.violation.get());
            }
        }
        network.send();
        assertTrue(waiting.get(10, TimeUnit.SECONDS));
    }

    @Test
    void shouldRetryAStepUntilItIsFinished() {
        AtomicInteger tries = new AtomicInteger();
        engine.enqueue(() -> {
            network.send(); // as room would be news
            return tries.incrementAndGet() == 3;
        });
        assertTrue(engine.await(news, () -> tries.get() == 3, System.nanoTime() + PATIENCE_NS));
        engine.progress();
        assertEquals(3, tries.get());
    }

    @Test
    void shouldWakeASleepingLeaderForANewStep() throws Exception {
        for (int i = 0; i < 50; i++) {
            AtomicBoolean done = new AtomicBoolean();
            var wait = async(false, () -> engine.await(news, done::get, in(10_000)));
            if (i % 5 == 0) {
                pause(2);
            }
            engine.enqueue(() -> {
                done.set(true);
                return true;
            });
            assertTrue(wait.get());
        }
    }

    @Test
    void shouldGoOnWithTheOtherStepsWhenOneFails() {
        AtomicInteger tries = new AtomicInteger();
        AtomicInteger failures = new AtomicInteger();
        engine.enqueue(() -> {
            failures.incrementAndGet();
            throw new IllegalArgumentException("as a test");
        });
        engine.enqueue(() -> {
            network.send();
            return tries.incrementAndGet() == 3;
        });
        assertTrue(engine.await(news, () -> tries.get() == 3, System.nanoTime() + PATIENCE_NS));
        assertEquals(1, failures.get());
    }

    @Test
    void shouldRefuseToWaitInsideAPollOrAStep() {
        AtomicReference<Throwable> inPoll = new AtomicReference<>();
        AtomicReference<Throwable> inStep = new AtomicReference<>();
        AtomicInteger progressed = new AtomicInteger();
        network.listener = () -> {
            progressed.addAndGet(engine.progress());
            inPoll.set(assertThrows(Throwable.class, () -> engine.await(news, () -> false, in(1_000))));
            assertTrue(engine.await(news, () -> true, in(1_000)));
            received.incrementAndGet();
        };
        engine.enqueue(() -> {
            progressed.addAndGet(engine.progress());
            inStep.set(assertThrows(Throwable.class, () -> engine.await(news, () -> false, in(1_000))));
            received.incrementAndGet();
            return true;
        });
        network.send();
        assertTrue(awaitReceived(2));
        assertInstanceOf(IllegalStateException.class, inPoll.get());
        assertInstanceOf(IllegalStateException.class, inStep.get());
        assertEquals(0, progressed.get());
    }

    @Test
    void shouldRefuseToBeClosedInsideAPollOrAStep() {
        AtomicReference<Throwable> inPoll = new AtomicReference<>();
        network.listener = () -> {
            inPoll.set(assertThrows(Throwable.class, engine::close));
            received.incrementAndGet();
        };
        network.send();
        assertTrue(awaitReceived(1));
        assertInstanceOf(IllegalStateException.class, inPoll.get());
    }

    @Test
    void shouldLetAHandlerWaitForMore() throws Exception {
        AtomicInteger handled = new AtomicInteger();
        AtomicInteger depth = new AtomicInteger();
        engine.addDispatcher(
                () -> {
                    if (received.get() == 1 && depth.getAndIncrement() == 0) {
                        assertTrue(engine.await(news, () -> received.get() == 2, in(10_000)));
                        handled.incrementAndGet();
                    }
                    return 0;
                },
                WaitHint.AUTO);
        network.send();
        var sender = async(false, () -> {
            pause(20);
            network.send();
            return true;
        });
        assertTrue(engine.await(news, () -> handled.get() == 1, System.nanoTime() + PATIENCE_NS));
        assertTrue(sender.get());
        engine.lowerDemand(); // the dispatcher's
    }

    @Test
    void shouldNeverCallAHandlerWhileAnotherOneOfTheSameChannelWaits() throws Exception {
        AtomicInteger inside = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        AtomicInteger calls = new AtomicInteger();
        engine.addDispatcher(
                () -> {
                    most.accumulateAndGet(inside.incrementAndGet(), Math::max);
                    if (calls.incrementAndGet() <= 3) {
                        engine.progress();
                        assertFalse(engine.await(news, () -> false, System.nanoTime() + 20_000_000));
                        engine.progress();
                    }
                    inside.decrementAndGet();
                    engine.signal(news);
                    return calls.get() > 8 ? 0 : 1;
                },
                WaitHint.AUTO);
        List<CompletableFuture<Boolean>> waits = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            waits.add(async(i == 2, () -> engine.await(news, () -> calls.get() > 5, in(10_000))));
        }
        for (CompletableFuture<Boolean> wait : waits) {
            assertTrue(wait.get());
        }
        assertEquals(1, most.get());
        engine.lowerDemand(); // the dispatcher's
    }

    @Test
    void shouldLetOthersLeadAndCallOtherHandlersWhileOneWaits() throws Exception {
        AtomicInteger others = new AtomicInteger();
        AtomicBoolean waits = new AtomicBoolean();
        AtomicBoolean waited = new AtomicBoolean();
        engine.addDispatcher(
                () -> {
                    if (waits.get() && !waited.get()) {
                        others.incrementAndGet();
                        engine.signal(news);
                        return 1;
                    }
                    return 0;
                },
                WaitHint.AUTO);
        engine.addDispatcher(
                () -> {
                    if (Thread.currentThread() != engine.ownThreadOnDuty() && waits.compareAndSet(false, true)) {
                        waited.set(engine.await(news, () -> others.get() >= 3, in(4_000)));
                    }
                    return 0;
                },
                WaitHint.AUTO);
        assertTrue(engine.await(news, waited::get, in(10_000)));
        engine.lowerDemand(); // the dispatchers'
        engine.lowerDemand();
    }

    @Test
    void shouldCallOtherHandlersWhileOneKeepsTheSessionsOwnThreadAndNobodyElseWaits() throws Exception {
        int rounds = 3;
        AtomicInteger others = new AtomicInteger();
        AtomicInteger waits = new AtomicInteger();
        AtomicInteger waited = new AtomicInteger();
        AtomicReference<Thread> kept = new AtomicReference<>();
        CompletableFuture<Void> done = new CompletableFuture<>();
        engine.addDispatcher(
                () -> {
                    if (waits.get() > others.get()) {
                        others.incrementAndGet();
                        engine.signal(news);
                        return 1;
                    }
                    return 0;
                },
                WaitHint.AUTO);
        AtomicReference<Dispatcher> dispatcher = new AtomicReference<>();
        dispatcher.set(engine.addDispatcher(
                "keeps",
                () -> {
                    Dispatcher within = dispatcher.get();
                    if (within == null || waits.get() == rounds) {
                        return 0;
                    }
                    within.handling(news); // so that it may wait for ever
                    int count = waits.incrementAndGet();
                    kept.set(Thread.currentThread());
                    try {
                        assertEquals(engine.ownThreadOnDuty(), kept.get());
                        assertTrue(engine.await(news, () -> others.get() >= count, in(20_000)));
                    } catch (Throwable e) {
                        done.completeExceptionally(e);
                    }
                    if (waited.incrementAndGet() == rounds) {
                        done.complete(null);
                    }
                    return 1;
                },
                WaitHint.AUTO));
        network.send(); // whoever leads may sleep
        done.get(30, TimeUnit.SECONDS); // idle meanwhile
        engine.lowerDemand(); // the dispatchers'
        engine.lowerDemand();
    }

    @Test
    void shouldFailAWaitOfAHandlerThatIsNotForItsOwnMessageAndSayWhatToUse() throws Exception {
        AtomicReference<Throwable> failure = new AtomicReference<>();
        try (ProgressEngine other = new ProgressEngine(
                "short", new SelectorReactor(), new WaitPolicy(WaitMode.ADAPTIVE, 0, 0, 50_000_000))) {
            Waitable own = new Waitable();
            Waitable reply = new Waitable(null, "use tryBeginPacking");
            AtomicReference<Dispatcher> dispatcher = new AtomicReference<>();
            dispatcher.set(other.addDispatcher(
                    "channel test",
                    () -> {
                        Dispatcher within = dispatcher.get();
                        if (within != null && failure.get() == null) {
                            within.handling(own);
                            assertFalse(other.await(own, () -> false, in(200)), "what is its own may take longer");
                            assertFalse(other.await(reply, () -> false, in(10)), "a deadline of its own comes first");
                            failure.set(assertThrows(
                                    IllegalStateException.class,
                                    () -> other.await(reply, () -> false, ProgressEngine.NO_DEADLINE)));
                        }
                        return 0;
                    },
                    WaitHint.AUTO));
            assertTrue(other.await(new Waitable(), () -> failure.get() != null, in(10_000)));
        }
        String text = String.valueOf(failure.get().getMessage());
        for (String part : List.of("channel test", "50 ms", "madeleine.wait.in-handlers", "use tryBeginPacking")) {
            assertTrue(text.contains(part), text);
        }
    }

    @Test
    void shouldCountWhatHandlersDoAsWork() {
        Rounds rounds = new Rounds(reactor); // whoever leads sleeps after rounds without work
        AtomicInteger handled = new AtomicInteger(3);
        rounds.addDispatcher(() -> handled.getAndSet(0));
        assertEquals(3, rounds.run(System.nanoTime()));
        assertEquals(0, rounds.run(System.nanoTime()));
    }

    @Test
    void shouldCallHandlersThoughNoThreadWaits() {
        AtomicReference<Thread> caller = new AtomicReference<>();
        engine.addDispatcher(
                () -> {
                    if (received.get() > 0) {
                        caller.set(Thread.currentThread());
                    }
                    return 0;
                },
                WaitHint.AUTO);
        pause(20);
        network.send();
        long deadlineNs = in(10_000);
        while (caller.get() == null && deadlineNs - System.nanoTime() > 0) {
            Thread.onSpinWait();
        }
        assertEquals(engine.ownThreadOnDuty(), caller.get());
        assertNotSame(Thread.currentThread(), caller.get());
        engine.lowerDemand(); // the dispatcher's
    }

    @Test
    void shouldGoOnWhenAPollFails() throws Exception {
        AtomicBoolean failed = new AtomicBoolean();
        CountDownLatch hasFailed = new CountDownLatch(1);
        network.listener = () -> {
            if (failed.compareAndSet(false, true)) {
                hasFailed.countDown();
                throw new AssertionError("as a test");
            }
            received.incrementAndGet();
            engine.signal(news);
        };
        var wait = async(true, () -> awaitReceived(1));
        network.send();
        assertTrue(hasFailed.await(20, TimeUnit.SECONDS)); // else both come by one poll
        network.send();
        assertTrue(wait.get());
    }
}
