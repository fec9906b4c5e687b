package io.madeleine.pmm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.pmm.spi.ProgressSource;
import io.madeleine.pmm.spi.Reactor;
import java.nio.channels.SelectableChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.logging.Filter;
import java.util.logging.Logger;
import org.junit.jupiter.api.Test;

/** What a leader does in a round, and before and after its sleep. */
class RoundsTest {
    /** A network that says what it is told to. */
    private static final class Source implements ProgressSource {
        int work;
        boolean quiet = true;
        boolean rearms = true;
        boolean recovers;
        long longestNs = Long.MAX_VALUE;
        RuntimeException pollFailure;
        Throwable disarmFailure;

        final List<Long> polledAt = new ArrayList<>();
        int armCount;
        int rearmCount;
        int disarmCount;
        int forAMomentCount;

        @Override
        public int poll(long nowNs) {
            polledAt.add(nowNs);
            if (pollFailure != null) {
                throw pollFailure;
            }
            return work;
        }

        @Override
        public boolean recover(InternalError fault) {
            return recovers;
        }

        @Override
        public boolean armForBlocking() {
            armCount++;
            return quiet;
        }

        @Override
        public boolean rearm() {
            rearmCount++;
            return rearms;
        }

        @Override
        public long longestSleepNs() {
            return longestNs;
        }

        @Override
        public void disarm() {
            disarmCount++;
            if (disarmFailure instanceof RuntimeException e) {
                throw e;
            }
            if (disarmFailure instanceof Error e) {
                throw e;
            }
        }

        @Override
        public void disarmForAMoment() {
            forAMomentCount++;
        }
    }

    /** Has so many events in each poll. */
    private static final class PolledReactor implements Reactor {
        int work;
        int pollCount;

        @Override
        public Registration register(SelectableChannel channel, int operations, ReadyHandler handler) {
            throw new AssertionError();
        }

        @Override
        public int poll() {
            pollCount++;
            return work;
        }

        @Override
        public int sleep(long timeoutNs) {
            throw new AssertionError();
        }

        @Override
        public void wakeUp() {}

        @Override
        public void close() {}
    }

    private static final long NOW_NS = 12_345;

    private final PolledReactor reactor = new PolledReactor();
    private final Rounds rounds = new Rounds(reactor);
    private final Source one = new Source();
    private final Source other = new Source();
    private final List<String> called = new ArrayList<>();

    private void addSources() {
        rounds.addSource(one);
        rounds.addSource(other);
    }

    // ---- a round

    /** After a round without work the leader may become idle. */
    @Test
    void shouldCountAsWorkWhatEachPartOfARoundHasDone() {
        addSources();
        one.work = 2;
        other.work = 30;
        rounds.addStep(() -> true);
        rounds.addStep(() -> false);
        rounds.addDispatcher(() -> 400);
        assertEquals(2 + 30 + 1 + 400, rounds.run(NOW_NS));
        assertEquals(2 + 30 + 400, rounds.run(NOW_NS), "a step that is not finished is no work");
        assertEquals(2 + 30, rounds.poll(NOW_NS), "a round of a handler calls no handlers");
        assertEquals(List.of(NOW_NS, NOW_NS, NOW_NS), one.polledAt);
        assertEquals(3, other.polledAt.size());
    }

    /** A poll is a system call. */
    @Test
    void shouldPollTheReactorNowAndThen() {
        reactor.work = 7;
        int roundsWithWork = 0;
        for (int i = 0; i < 100_000; i++) {
            int before = reactor.pollCount;
            int work = rounds.poll(NOW_NS);
            assertEquals(7 * (reactor.pollCount - before), work);
            roundsWithWork += work > 0 ? 1 : 0;
        }
        assertTrue(roundsWithWork >= 20 && roundsWithWork <= 1_000, roundsWithWork + " of 100000");
    }

    @Test
    void shouldPollASourceNoMoreOnceItIsRemoved() {
        addSources();
        rounds.removeSource(one);
        rounds.poll(NOW_NS);
        assertTrue(one.polledAt.isEmpty());
        assertEquals(1, other.polledAt.size());
    }

    /** They run in no certain order. */
    @Test
    void shouldTryEachPendingStepOnceInARoundUntilItIsFinished() {
        int count = 6;
        int[] tries = new int[count];
        for (int i = 0; i < count; i++) {
            int number = i;
            rounds.addStep(() -> ++tries[number] > number / 2);
        }
        assertTrue(rounds.hasNewSteps());
        for (int round = 1; round <= 5; round++) {
            int finished = rounds.poll(NOW_NS);
            assertFalse(rounds.hasNewSteps());
            assertEquals(round <= 3 ? 2 : 0, finished);
            for (int i = 0; i < count; i++) {
                assertEquals(Math.min(round, i / 2 + 1), tries[i], "step " + i + " in round " + round);
            }
        }
    }

    private void failInARound(Throwable failure, boolean isTriedAgain) {
        AtomicInteger tries = new AtomicInteger();
        rounds.addStep(() -> {
            if (tries.incrementAndGet() > 1) {
                return true;
            }
            if (failure instanceof Error e) {
                throw e;
            }
            throw (RuntimeException) failure;
        });
        AtomicInteger afterIt = new AtomicInteger();
        rounds.addStep(() -> afterIt.incrementAndGet() == 2);
        List<Throwable> logged = new ArrayList<>();
        Logger logger = Logger.getLogger("io.madeleine.pmm");
        Filter before = logger.getFilter();
        logger.setFilter(line -> {
            logged.add(line.getThrown());
            return false;
        });
        try {
            assertEquals(isTriedAgain ? 0 : 1, rounds.poll(NOW_NS), failure + ": given up, it is done with");
            for (int i = 0; i < 3; i++) {
                rounds.poll(NOW_NS);
            }
        } finally {
            logger.setFilter(before);
        }
        assertEquals(isTriedAgain ? 2 : 1, tries.get(), failure::toString);
        assertEquals(isTriedAgain ? List.of() : List.of(failure), logged);
        assertEquals(2, afterIt.get(), "the others go on");
    }

    @Test
    void shouldTryAStepAgainThatLacksMemoryAndGiveUpOneThatFails() {
        addSources();
        failInARound(new OutOfMemoryError("as a test"), true);
        failInARound(new IllegalStateException("as a test"), false);
        failInARound(new StackOverflowError("as a test"), false);
        failInARound(new InternalError("of no network"), false);
        one.recovers = true; // the error comes from memory that this network shares; it knows now
        failInARound(new InternalError("of a network"), true);
        assertTrue(rounds.recover(new InternalError("of a network")));
        one.recovers = false;
        assertFalse(rounds.recover(new InternalError("of no network")));
    }

    /** A handler that waited has let others lead; who called it must not touch what they do. */
    @Test
    void shouldEndTheRoundWithTheHandlerThatHasReleasedTheLead() {
        AtomicReference<Dispatcher> releasing = new AtomicReference<>();
        releasing.set(new Dispatcher(
                "x",
                () -> {
                    called.add("first");
                    releasing.get().releaseFromHandler();
                    return 1;
                },
                () -> true,
                true));
        rounds.addDispatcher(releasing.get());
        rounds.addDispatcher(() -> {
            called.add("second");
            return 1;
        });
        assertEquals(Rounds.LEAD_IS_GONE, rounds.run(NOW_NS));
        assertEquals(List.of("first"), called);
    }

    /** In a poll or a step no wait may begin, as it would poll in the middle of a poll; in a handler it may. */
    @Test
    void shouldSayWhereAnotherRoundMustNotBegin() {
        List<Boolean> polling = new ArrayList<>();
        rounds.addStep(() -> polling.add(rounds.isPolling()));
        rounds.addDispatcher(() -> {
            polling.add(rounds.isPolling());
            return 0;
        });
        rounds.run(NOW_NS);
        assertEquals(List.of(true, false), polling);
        one.pollFailure = new IllegalStateException("as a test");
        rounds.addSource(one);
        assertThrows(IllegalStateException.class, () -> rounds.run(NOW_NS));
        assertFalse(rounds.isPolling(), "the one who leads next can wait");
    }

    // ---- handlers

    @Test
    void shouldKnowWhoseHandlerAThreadRuns() {
        Dispatcher idle = new Dispatcher("idle", () -> 0, () -> false, true);
        AtomicReference<Dispatcher> within = new AtomicReference<>();
        Dispatcher running = new Dispatcher(
                "running",
                () -> {
                    within.set(rounds.dispatcherRunBy(Thread.currentThread()));
                    return 0;
                },
                () -> true,
                false);
        rounds.addDispatcher(idle);
        rounds.addDispatcher(running);
        rounds.addDispatcher(() -> 0);
        rounds.run(NOW_NS);
        assertSame(running, within.get());
        assertNull(rounds.dispatcherRunBy(Thread.currentThread()));
        assertEquals(2, rounds.handlerCount(), "the third one sends");
    }

    @Test
    void shouldCloseHandlersAndNoSends() {
        AtomicInteger sent = new AtomicInteger();
        rounds.addDispatcher(new Dispatcher("sends", sent::incrementAndGet, () -> true, false));
        AtomicInteger handled = new AtomicInteger();
        rounds.addDispatcher(handled::incrementAndGet);
        rounds.closeHandlers(System.nanoTime());
        rounds.run(NOW_NS);
        assertEquals(0, handled.get());
        assertEquals(1, sent.get());
    }

    // ---- sleep

    @Test
    void shouldArmAllForASleepAndSayIfThereIsAnEventAnywhere() {
        addSources();
        assertTrue(rounds.arm());
        assertTrue(rounds.isPolling(), "no other round may begin while they are armed");
        rounds.disarm();
        assertFalse(rounds.isPolling());
        for (Source source : List.of(one, other)) {
            source.quiet = false;
            assertFalse(rounds.arm());
            rounds.disarm();
            source.quiet = true;
        }
        rounds.addStep(() -> true);
        assertFalse(rounds.arm(), "there is a new step");
        rounds.disarm();
        for (Source source : List.of(one, other)) {
            assertEquals(4, source.armCount);
            assertEquals(4, source.disarmCount);
            assertEquals(0, source.forAMomentCount);
        }
    }

    /** Rearming is for a moment in which nothing happens: it costs as little as it can. */
    @Test
    void shouldRearmOnlyUntilItIsClearThatNobodyCanSleepOn() {
        addSources();
        assertTrue(rounds.rearm());
        assertTrue(rounds.isPolling());
        rounds.disarmForAMoment();
        assertFalse(rounds.isPolling());
        assertEquals(1, one.forAMomentCount);
        assertEquals(1, other.forAMomentCount);
        one.rearms = false;
        assertFalse(rounds.rearm());
        rounds.disarm();
        assertEquals(1, one.disarmCount, "also who has refused");
        assertEquals(0, other.disarmCount, "who was not asked");
        one.rearms = true;
        other.rearms = false;
        assertFalse(rounds.rearm());
        rounds.disarm();
        rounds.addStep(() -> true);
        assertFalse(rounds.rearm(), "there is a new step");
        rounds.disarm();
        assertEquals(3, one.rearmCount);
        assertEquals(2, other.rearmCount);
        assertEquals(0, one.armCount + other.armCount);
    }

    @Test
    void shouldSleepNoLongerThanEachOfTheArmedPermits() {
        addSources();
        assertTrue(rounds.arm());
        assertEquals(Long.MAX_VALUE, rounds.longestSleepNs());
        one.longestNs = 300;
        assertEquals(300, rounds.longestSleepNs());
        other.longestNs = 20;
        assertEquals(20, rounds.longestSleepNs());
        rounds.disarm();
    }

    /** One that comes in the middle of a sleep was not armed. */
    @Test
    void shouldDisarmThoseThatItHasArmed() {
        rounds.addSource(one);
        rounds.arm();
        rounds.addSource(other);
        rounds.removeSource(one);
        rounds.disarm();
        assertEquals(1, one.disarmCount);
        assertEquals(0, other.disarmCount);
    }

    /** Else the other would not know that nobody sleeps any more. */
    @Test
    void shouldDisarmAllSourcesThoughOneFails() {
        addSources();
        int count = 0;
        for (Throwable failure : List.of(new OutOfMemoryError("as a test"), new IllegalStateException("as a test"))) {
            one.disarmFailure = failure;
            rounds.arm();
            assertThrows(failure.getClass(), rounds::disarm);
            assertEquals(++count, other.disarmCount);
            assertFalse(rounds.isPolling());
        }
    }
}
