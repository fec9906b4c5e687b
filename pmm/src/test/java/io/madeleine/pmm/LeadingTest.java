package io.madeleine.pmm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.api.SessionException;
import io.madeleine.pmm.spi.ProgressSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * What a leader does in each round, on a clock that stands still between polls. A trace such as "32 yield 16 sleep"
 * reads: 32 polls, a yield, 16 polls, a sleep in the reactor.
 */
@Timeout(30)
class LeadingTest {
    private static final long US = 1_000;
    private static final long FOREVER = Long.MAX_VALUE;

    /** Polls are counted up to here, unless a test says otherwise. */
    private static final int LAST_POLL = 160;

    private static WaitPolicy adaptive(long spinNs, int yieldRounds) {
        return new WaitPolicy(WaitMode.ADAPTIVE, spinNs, yieldRounds);
    }

    /** 32 us of polling, two yields. */
    private static final WaitPolicy POLICY = adaptive(32 * US, 2);

    private static WaitPolicy crowded(long spinNs, int yieldRounds) {
        return new WaitPolicy(WaitMode.ADAPTIVE, spinNs, yieldRounds, 0, false, true);
    }

    private static WaitPolicy oneProcessor(WaitMode mode, long spinNs, int yieldRounds) {
        return new WaitPolicy(mode, spinNs, yieldRounds, 0, true, false);
    }

    /** The clock, in nanoseconds; a poll takes 1 us, and a yield nothing unless a test says otherwise. */
    private long nowNs = System.nanoTime();

    private final long beganNs = nowNs;
    private long pollNs = US;
    private long yieldNs;
    private int pollCount;
    private int lastPoll = LAST_POLL;
    private final List<String> trace = new ArrayList<>();
    private int untold;

    /** Whether the poll with this number brings news, or what else happens in it. */
    private final Map<Integer, Integer> news = new HashMap<>();

    private final Map<Integer, Runnable> events = new HashMap<>();

    private void tell(String what) {
        if (untold > 0) {
            trace.add(Integer.toString(untold));
            untold = 0;
        }
        trace.add(what);
    }

    private final class Network implements ProgressSource {
        boolean quiet = true;

        @Nullable
        InternalError fault;

        @Override
        public int poll(long nowNs) {
            LeadingTest.this.nowNs += pollNs;
            pollCount++;
            untold++;
            events.getOrDefault(pollCount, () -> {}).run();
            return news.getOrDefault(pollCount, 0);
        }

        @Override
        public boolean armForBlocking() {
            return quiet;
        }

        @Override
        public void disarm() {}

        @Override
        public boolean recover(InternalError error) {
            return error == fault;
        }
    }

    /** Wakes up at once, after what the test wants to happen meanwhile. */
    private final class Bed extends PlayedReactor {
        Runnable meanwhile = () -> {};
        boolean asks;
        long lastTimeoutNs;

        @Override
        public int sleep(long timeoutNs) {
            lastTimeoutNs = timeoutNs;
            tell("sleep");
            meanwhile.run();
            return 0;
        }

        @Override
        public int sleep(long timeoutNs, BooleanSupplier mayHandle) {
            lastTimeoutNs = timeoutNs;
            tell("lend");
            meanwhile.run();
            return 0;
        }

        @Override
        public boolean asksBeforeHandling() {
            return asks;
        }

        @Override
        public void wakeUp() {
            tell("wake");
        }
    }

    private final Network network = new Network();
    private final Bed bed = new Bed();
    private final SelectorReactor idle = new SelectorReactor();

    /** It says what demands progress. The test holds its lead, so that none of its threads polls. */
    private final ProgressEngine engine = new ProgressEngine("facts", idle, adaptive(0, 0));

    private final Lead lead = new Lead();
    private final Rounds rounds = new Rounds(bed);
    private final WaitHintCounts hints = new WaitHintCounts();
    private final VirtualWakeups wakeups = new VirtualWakeups(lead);
    private final WaitList waitList = new WaitList(bed, hints, wakeups);
    private final Demands demands = new Demands();
    private final Sleeping sleeping = new Sleeping(engine, lead, rounds, waitList, bed, demands);
    private final SpareProcessor processor = new SpareProcessor(
            () -> {
                tell("yield");
                nowNs += yieldNs;
            },
            () -> nowNs);
    private final Thread other = Thread.ofPlatform().unstarted(() -> {});
    private final Waitable on = new Waitable();

    /** The session's own thread runs what a test wants to happen there. */
    private final SelectorReactor hostReactor = new SelectorReactor();

    private final ProgressEngine host = new ProgressEngine("host", hostReactor, adaptive(0, 0));

    LeadingTest() {
        assertTrue(engine.tryLead(Thread.currentThread()));
        engine.addSource(network); // for rounds with handlers
        rounds.addSource(network); // for those without, and for sleeps
    }

    @AfterEach
    void close() {
        host.close();
        hostReactor.close();
        engine.stepAside();
        engine.close();
        idle.close();
    }

    private Leading leading(WaitPolicy policy) {
        return new Leading(
                engine, lead, rounds, waitList, bed, policy, hints, wakeups, sleeping, processor, () -> nowNs);
    }

    /** Leads until the last poll; returns what has happened. */
    private String traceOf(WaitPolicy policy) {
        return traceOf(policy, false, on);
    }

    private String traceUntil(int poll, WaitPolicy policy) {
        return traceUntil(poll, policy, on);
    }

    private String traceUntil(int poll, WaitPolicy policy, Waitable on) {
        lastPoll = poll;
        return traceOf(policy, false, on);
    }

    private String traceOf(WaitPolicy policy, boolean inHandler, Waitable on) {
        assertEquals(WaitOutcome.MET, lead(policy, inHandler, on, FOREVER));
        return trace();
    }

    private String trace() {
        if (untold > 0) {
            trace.add(Integer.toString(untold));
        }
        return String.join(" ", trace);
    }

    private WaitOutcome lead(WaitPolicy policy, boolean inHandler, Waitable on, long deadlineNs) {
        return lead(leading(policy), inHandler, on, deadlineNs);
    }

    private WaitOutcome lead(Leading leading, boolean inHandler, Waitable on, long deadlineNs) {
        assertTrue(lead.tryTake(Thread.currentThread()));
        try {
            return leading.lead(inHandler, on, () -> pollCount >= lastPoll, deadlineNs);
        } finally {
            lead.release();
        }
    }

    /** Runs a task in a thread that is the session's own. */
    private <T> T inOwnThread(Callable<T> task) throws Exception {
        CompletableFuture<T> result = new CompletableFuture<>();
        host.enqueue(() -> {
            complete(result, task);
            return true;
        });
        host.raiseDemand();
        return result.get();
    }

    private static <T> T inVirtualThread(Callable<T> task) throws Exception {
        CompletableFuture<T> result = new CompletableFuture<>();
        Thread.ofVirtual().start(() -> complete(result, task));
        return result.get();
    }

    private static <T> void complete(CompletableFuture<T> result, Callable<T> task) {
        try {
            result.complete(task.call());
        } catch (Throwable e) {
            result.completeExceptionally(e);
        }
    }

    private String traceForOthers(int poll, WaitPolicy policy) throws Exception {
        return inOwnThread(() -> traceUntil(poll, policy));
    }

    // ---- a thread that leads for itself

    @Test
    void shouldPollForItsPatienceThenYieldThenSleep() {
        assertEquals("32 yield 16 yield 16 yield 16 sleep 16 sleep 16 sleep 16 sleep 16 sleep 16", traceOf(POLICY));
    }

    /** The clock is read in each 16th round: the patience of 48 us ends with the look at 64, 48 after the first. */
    @Test
    void shouldYieldNowAndThenWhileItPolls() {
        assertEquals("32 yield 16 yield 16 sleep 16", traceUntil(80, adaptive(48 * US, 0)));
    }

    @Test
    void shouldYieldAgainAfterFiveMicrosecondsOfPolling() {
        pollNs = US / 4; // a look every 4 us
        yieldNs = 2 * US;
        assertEquals("48 yield 32 yield 32 yield 32 yield 16", traceUntil(160, adaptive(1_000 * US, 0)));
    }

    @Test
    void shouldYieldAtTheMomentAtWhichFiveMicrosecondsAreOver() {
        events.put(32, () -> nowNs = beganNs + 16 * US + 5 * US);
        events.put(48, () -> nowNs = beganNs + 21 * US + 5 * US - 1);
        assertEquals("32 yield 32 yield 16", traceUntil(80, adaptive(1_000 * US, 0)));
    }

    @Test
    void shouldSleepWithoutYieldsIfThePolicyHasNone() {
        assertEquals("32 yield 16 sleep 16 sleep 16", traceUntil(80, adaptive(32 * US, 0)));
        assertEquals(FOREVER, bed.lastTimeoutNs);
    }

    @Test
    void shouldPollTenTimesAsLongForLatency() {
        lastPoll = 400;
        String trace = traceOf(adaptive(32 * US, 1), false, new Waitable(WaitHint.LATENCY));
        assertEquals("32 yield" + " 16 yield".repeat(19) + " 16 sleep 16 sleep 16 sleep 16", trace);
    }

    @Test
    void shouldYieldAtEachLookForThroughput() {
        pollNs = US / 10; // a look every 1.6 us
        String trace = traceOf(adaptive(8 * US, 2), false, new Waitable(WaitHint.THROUGHPUT));
        assertEquals("16 yield 16 yield 16 yield 16 yield 16 yield 16 yield 16 yield 16 sleep 16 sleep 16", trace);
    }

    @Test
    void shouldSleepAtOnceToSpareTheProcessor() {
        assertEquals("16 sleep 16 sleep 16", traceUntil(48, POLICY, new Waitable(WaitHint.CPU)));
    }

    @Test
    void shouldFollowTheMostImpatientOfAllThatWait() {
        hints.add(WaitHint.THROUGHPUT);
        assertEquals(
                "16 yield 16 yield 16 yield 16 yield 16 sleep 16", traceUntil(96, POLICY, new Waitable(WaitHint.CPU)));
    }

    @Test
    void shouldSleepAfterEachPollInBlockMode() {
        assertEquals("1 sleep 1 sleep 1 sleep 1", traceUntil(4, new WaitPolicy(WaitMode.BLOCK, 32 * US, 2)));
    }

    @Test
    void shouldNeitherYieldNorSleepInSpinMode() {
        assertEquals("160", traceOf(new WaitPolicy(WaitMode.SPIN, 0, 0)));
    }

    @Test
    void shouldBeginAnewWhenSomethingArrives() {
        news.put(40, 1);
        assertEquals("32 yield 32 yield 16 sleep 16", traceUntil(96, adaptive(32 * US, 0)));
    }

    /** The yields that were used up count again. */
    @Test
    void shouldYieldAsOftenAfterNews() {
        news.put(65, 1);
        assertEquals("32 yield 16 yield 16 yield 32 yield 16 yield 16 yield 16 sleep 16", traceUntil(160, POLICY));
    }

    /** What has been handled in this very round: the leader looks at once whether there is more. */
    @Test
    void shouldNotPauseInARoundWithNews() {
        news.put(16, 1);
        news.put(32, 1);
        assertEquals("48 sleep 16", traceUntil(64, adaptive(0, 0)));
    }

    @Test
    void shouldBeginAnewWhenAnImpatientThreadWaits() {
        events.put(60, sleeping::hurry);
        assertEquals("32 yield 16 sleep 32 yield 16 sleep 16", traceUntil(112, adaptive(32 * US, 0)));
        assertFalse(sleeping.takeHurry(), "taken once");
    }

    @Test
    void shouldReadTheClockAfterASleep() {
        List<Long> seen = new ArrayList<>();
        bed.meanwhile = () -> nowNs += 500 * US;
        ProgressSource clockReader = new ProgressSource() {
            @Override
            public int poll(long nowNs) {
                seen.add(LeadingTest.this.nowNs - nowNs);
                return 0;
            }

            @Override
            public boolean armForBlocking() {
                return true;
            }

            @Override
            public void disarm() {}
        };
        engine.addSource(clockReader);
        assertEquals("16 sleep 16 sleep 16 sleep 16", traceUntil(64, adaptive(0, 0)));
        for (long lateNs : seen) {
            assertTrue(lateNs >= 0 && lateNs <= 17 * US, "told a time of " + lateNs + " ns ago");
        }
        assertEquals(seen.get(1) + US, seen.get(2), "reading the clock in each round costs as much as the round");
    }

    // ---- beside busy processors

    @Test
    void shouldSleepInsteadOfPollingWhileNoProcessorIsSpare() {
        processor.setTaken(nowNs + 40 * US);
        assertEquals("16 sleep 16 sleep 16 yield 16 yield 16", traceUntil(80, adaptive(1_000 * US, 2)));
    }

    @Test
    void shouldSpinThoughNoProcessorIsSpareIfToldTo() {
        processor.setTaken(nowNs + 1_000 * US);
        assertEquals("160", traceOf(new WaitPolicy(WaitMode.SPIN, 0, 0)));
    }

    @Test
    void shouldStopYieldingWhenNoProcessorIsSpare() {
        yieldNs = 2 * SpareProcessor.LONG_YIELD_NS;
        assertEquals("16 yield 16 sleep 16 sleep 16", traceUntil(64, adaptive(0, 5)));
    }

    @Test
    void shouldYieldEachMicrosecondWhereProcessesOutnumberProcessors() {
        pollNs = US / 4;
        yieldNs = US;
        assertEquals("5 yield 4 yield 4 yield 4 yield 3", traceUntil(20, crowded(1_000 * US, 0)));
    }

    @Test
    void shouldNotPollWithoutYieldsWhereProcessesOutnumberProcessors() {
        assertEquals("2 yield 1 yield 1 yield 1 sleep 1 sleep 1", traceUntil(7, crowded(0, 3)));
    }

    @Test
    void shouldPollForAMicrosecondBetweenTheLastYieldsWhereProcessesOutnumberProcessors() {
        pollNs = US / 4;
        assertEquals("5 yield 4 yield 4 sleep 1 sleep 1", traceUntil(15, crowded(0, 2)));
    }

    @Test
    void shouldBeginAnewAfterNewsWhereProcessesOutnumberProcessors() {
        news.put(4, 1);
        assertEquals("2 yield 1 sleep 3 yield 1 sleep 1", traceUntil(8, crowded(0, 1)));
    }

    // ---- deadlines, the end, interrupts

    @Test
    void shouldEndAtTheLookAtItsDeadline() {
        assertEquals(WaitOutcome.EXPIRED, lead(adaptive(1_000 * US, 0), false, on, nowNs + 32 * US));
        assertEquals(32, pollCount);
    }

    @Test
    void shouldGoOnUntilItsDeadline() {
        assertEquals(WaitOutcome.EXPIRED, lead(adaptive(1_000 * US, 0), false, on, nowNs + 32 * US + 1));
        assertEquals(48, pollCount);
    }

    @Test
    void shouldSleepNoLongerThanItsDeadline() {
        long deadlineNs = System.nanoTime() + 100_000_000_000L;
        assertEquals(WaitOutcome.MET, lead(adaptive(0, 0), false, on, deadlineNs));
        assertTrue(bed.lastTimeoutNs > 1_000_000_000 && bed.lastTimeoutNs <= 100_000_000_000L);
    }

    @Test
    void shouldEndWithoutASleepIfTheConditionHoldsOnceAllIsArmed() {
        Leading leading = leading(adaptive(0, 0));
        boolean[] met = new boolean[1];
        Thread self = Thread.currentThread();
        assertTrue(lead.tryTake(self));
        // another thread brings it while the leader arms the networks
        rounds.addSource(new ProgressSource() {
            @Override
            public int poll(long nowNs) {
                return 0;
            }

            @Override
            public boolean armForBlocking() {
                met[0] = true;
                return true;
            }

            @Override
            public void disarm() {}
        });
        assertEquals(WaitOutcome.MET, leading.lead(false, on, () -> met[0], FOREVER));
        assertEquals("16", trace());
        lead.release();
    }

    @Test
    void shouldEndWhenAHandlerHasClosedTheSession() {
        events.put(5, lead::close);
        assertThrows(SessionException.class, () -> lead(POLICY, false, on, FOREVER));
        assertEquals(5, pollCount);
    }

    @Test
    void shouldEndAtTheNextLookAfterAnInterrupt() {
        events.put(5, () -> Thread.currentThread().interrupt());
        assertThrows(RuntimeException.class, () -> lead(POLICY, false, on, FOREVER));
        assertEquals(16, pollCount);
        assertTrue(Thread.interrupted());
    }

    // ---- errors of shared memory

    @Test
    void shouldGoOnAfterAnErrorThatANetworkRecoversFrom() {
        InternalError fault = new InternalError("truncated");
        network.fault = fault;
        boolean[] thrown = new boolean[1];
        assertEquals(WaitOutcome.MET, leadThrowing(fault, thrown));
        assertTrue(thrown[0]);
    }

    @Test
    void shouldFailOfAnErrorThatNoNetworkRecoversFrom() {
        InternalError fault = new InternalError("other");
        assertSame(fault, assertThrows(InternalError.class, () -> leadThrowing(fault, new boolean[1])));
    }

    /** The JVM may throw such an error some time after the access, so in the condition, too. */
    private WaitOutcome leadThrowing(InternalError fault, boolean[] thrown) {
        Thread self = Thread.currentThread();
        assertTrue(lead.tryTake(self));
        try {
            return leading(POLICY)
                    .lead(
                            false,
                            on,
                            () -> {
                                if (pollCount == 3 && !thrown[0]) {
                                    thrown[0] = true;
                                    throw fault;
                                }
                                return pollCount >= 10;
                            },
                            FOREVER);
        } finally {
            lead.release();
        }
    }

    @Test
    void shouldNotPollAfterAnErrorOfAHandlerThatHasReleasedTheLead() {
        InternalError fault = new InternalError("truncated");
        network.fault = fault;
        events.put(3, () -> {
            lead.release();
            throw fault;
        });
        assertEquals(WaitOutcome.LEAD_IS_GONE, lead(POLICY, true, on, FOREVER));
        assertEquals(3, pollCount);
    }

    // ---- the thread that leads for others

    @Test
    void shouldSleepAtOnceIfOnlyAdaptersWantProgress() throws Exception {
        assertEquals("16 sleep 16 sleep 16", traceForOthers(48, POLICY));
    }

    @Test
    void shouldLendTheLeadAtOnceIfOnlyAdaptersWantProgress() throws Exception {
        bed.asks = true;
        assertEquals("16 lend 16 lend 16", traceForOthers(48, POLICY));
    }

    @Test
    void shouldPollForThreadsThatWaitThenLendTheLead() throws Exception {
        bed.asks = true;
        engine.raiseDemand();
        assertEquals("32 yield 16 yield 16 yield 16 lend 16 lend 16", traceForOthers(112, POLICY));
    }

    @Test
    void shouldPollForThreadsThatWaitThenSleep() throws Exception {
        engine.raiseDemand();
        assertEquals("32 yield 16 yield 16 yield 16 sleep 16 sleep 16", traceForOthers(112, POLICY));
    }

    @Test
    void shouldLendTheLeadAtOnceIfThereAreOnlyHandlers() throws Exception {
        bed.asks = true;
        Dispatcher _ = engine.addDispatcher(() -> 0, WaitHint.AUTO);
        assertEquals("16 lend 16 lend 16", traceForOthers(48, POLICY));
    }

    /** Where the lead cannot be lent, a thread that answers has to wait until this one has woken up. */
    @Test
    void shouldPollIfThereAreOnlyHandlersAndTheLeadCannotBeLent() throws Exception {
        Dispatcher _ = engine.addDispatcher(() -> 0, WaitHint.AUTO);
        assertEquals("32 yield 16 sleep 16", traceForOthers(64, adaptive(32 * US, 0)));
    }

    @Test
    void shouldPollForMoreWhenAHandlerHasBeenCalled() throws Exception {
        bed.asks = true;
        news.put(20, 1);
        Dispatcher _ = engine.addDispatcher(() -> 0, WaitHint.AUTO);
        assertEquals("16 lend 32 yield 16 lend 16 lend 16", traceForOthers(96, adaptive(32 * US, 0)));
    }

    @Test
    void shouldReturnWhenAnotherThreadTookTheLead() throws Exception {
        bed.asks = true;
        bed.meanwhile = () -> assertTrue(lead.tryTake(other));
        WaitOutcome outcome = inOwnThread(() -> lead(POLICY, false, on, FOREVER));
        assertEquals(WaitOutcome.LEAD_IS_GONE, outcome);
        assertTrue(lead.isHeldBy(other));
        assertEquals("16 lend", trace());
    }

    @Test
    void shouldReturnWhenAnotherThreadTookTheLeadAfterPolling() throws Exception {
        bed.asks = true;
        bed.meanwhile = () -> assertTrue(lead.tryTake(other));
        engine.raiseDemand();
        WaitOutcome outcome = inOwnThread(() -> lead(adaptive(0, 0), false, on, FOREVER));
        assertEquals(WaitOutcome.LEAD_IS_GONE, outcome);
        assertEquals("16 lend", trace());
    }

    @Test
    void shouldPollWithoutEndInSpinModeForThreadsThatWait() throws Exception {
        engine.raiseDemand();
        assertEquals("160", traceForOthers(160, new WaitPolicy(WaitMode.SPIN, 2 * US, 0)));
    }

    @Test
    void shouldPollInSpinModeForHandlersAsLongAsForLatency() throws Exception {
        Dispatcher _ = engine.addDispatcher(() -> 0, WaitHint.AUTO);
        WaitPolicy policy = new WaitPolicy(WaitMode.SPIN, 16 * US / 5, 0); // 32 us
        assertEquals("48 sleep 16 sleep 16", traceForOthers(80, policy));
    }

    @Test
    void shouldYieldAtEachLookIfTheProcessHasOneProcessor() throws Exception {
        engine.raiseDemand();
        WaitPolicy policy = oneProcessor(WaitMode.SPIN, 0, 0);
        assertEquals("16 yield 16 yield 16 yield 16", traceForOthers(64, policy));
    }

    @Test
    void shouldSpinForItselfIfTheProcessHasOneProcessor() {
        assertEquals("64", traceUntil(64, oneProcessor(WaitMode.SPIN, 0, 0)));
    }

    @Test
    void shouldMakeRoomForWhoSleepsInTheReactorBeforeItSleepsThere() {
        bedIsTakenUntil(33);
        assertEquals("16 wake 16 wake 16 sleep 16", traceUntil(64, adaptive(0, 0)));
    }

    @Test
    void shouldMakeRoomForWhoSleepsInTheReactorBeforeItLendsTheLead() throws Exception {
        bed.asks = true;
        bedIsTakenUntil(33);
        assertEquals("16 wake 16 wake 16 lend 16", traceForOthers(64, POLICY));
    }

    private void bedIsTakenUntil(int poll) {
        assertTrue(lead.tryTake(other));
        lead.fallAsleep(other);
        events.put(poll, () -> assertFalse(lead.comeBack(other)));
    }

    // ---- waits in handlers

    @Test
    void shouldCallNoHandlerWhileItWaitsInAHandler() {
        int[] calls = new int[1];
        Dispatcher _ = engine.addDispatcher(() -> calls[0]++, WaitHint.AUTO);
        assertEquals("32 yield 16 yield 16 yield 16 sleep 16", traceOfHandler(96, POLICY));
        assertEquals(0, calls[0]);
    }

    @Test
    void shouldLeaveACarrierNowAndThenInAHandler() throws Exception {
        WaitPolicy spin = new WaitPolicy(WaitMode.SPIN, 0, 0);
        assertEquals("32 yield 16 yield 16", inVirtualThread(() -> traceOfHandler(64, spin)));
    }

    @Test
    void shouldKeepACarrierForAMillisecondAtMost() throws Exception {
        assertEquals("16 sleep 16", inVirtualThread(() -> traceOfHandler(32, adaptive(0, 0))));
        assertEquals(1_000_000, bed.lastTimeoutNs);
    }

    private String traceOfHandler(int poll, WaitPolicy policy) {
        lastPoll = poll;
        return traceOf(policy, true, on);
    }

    // ---- virtual threads

    private void awakenAt(int... polls) {
        for (int poll : polls) {
            events.put(poll, wakeups::note);
        }
    }

    @Test
    void shouldLeaveTheLeadToAVirtualThreadAfterFourWakeUps() {
        awakenAt(1, 3, 5, 7);
        assertEquals(WaitOutcome.LEFT_TO_VIRTUAL, lead(POLICY, false, on, FOREVER));
        assertEquals(7, pollCount);
    }

    @Test
    void shouldKeepTheLeadAfterThreeWakeUps() {
        awakenAt(1, 3, 5);
        assertEquals("32 yield 16", traceUntil(48, adaptive(1_000 * US, 0)));
    }

    @Test
    void shouldCountWakeUpsAnewAfterASleep() {
        awakenAt(1, 3, 5, 20, 21);
        assertEquals("16 sleep 16 sleep 16", traceUntil(48, adaptive(0, 0)));
    }

    @Test
    void shouldCountWakeUpsAnewAfterTheLeadWasLent() throws Exception {
        bed.asks = true;
        engine.raiseDemand();
        awakenAt(1, 3, 5, 50, 51);
        assertEquals("32 yield 16 lend 16", traceForOthers(64, adaptive(32 * US, 0)));
    }

    @Test
    void shouldKeepTheLeadInAHandler() {
        awakenAt(1, 3, 5, 7);
        assertEquals("32 yield 16", traceOfHandler(48, adaptive(1_000 * US, 0)));
    }

    @Test
    void shouldKeepTheLeadWhereAVirtualThreadMayNotPoll() {
        awakenAt(1, 3, 5, 7);
        assertEquals("16 sleep 16", traceUntil(32, POLICY, new Waitable(WaitHint.CPU)));
    }

    @Test
    void shouldKeepTheLeadWhereThePolicyDoesNotSpin() {
        awakenAt(1, 3, 5, 7);
        assertEquals("16 sleep 16", traceUntil(32, adaptive(0, 0)));
    }

    @Test
    void shouldKeepTheLeadWhereNoProcessorIsSpare() {
        processor.setTaken(nowNs + 1_000 * US);
        awakenAt(1, 3, 5, 7);
        assertEquals("16 sleep 16", traceUntil(32, POLICY));
    }

    @Test
    void shouldSpinIfThePolicySaysSo() {
        assertTrue(leading(new WaitPolicy(WaitMode.SPIN, 0, 0)).spins());
        assertTrue(leading(adaptive(1, 0)).spins());
        assertFalse(leading(adaptive(0, 5)).spins());
        assertFalse(leading(new WaitPolicy(WaitMode.BLOCK, 1, 1)).spins());
    }

    // ---- changes of which one thread is told

    /** Another thread that waits on the same object; it is told as soon as the leader is not the one to check. */
    private final Waiter next = Waiter.leader();

    private void nextWaits(Waitable on) {
        waitList.register(on, next);
    }

    @Test
    void shouldNoteTheFirstChangeForItself() {
        Leading leading = leading(POLICY);
        List<Boolean> noted = new ArrayList<>();
        lastPoll = 3;
        events.put(2, () -> {
            noted.add(leading.takesNote(new Waitable()));
            noted.add(leading.takesNote(on));
            noted.add(leading.takesNote(on));
        });
        events.put(3, () -> noted.add(leading.takesNote(on)));
        nextWaits(on);
        assertEquals(WaitOutcome.MET, lead(leading, false, on, FOREVER));
        assertEquals(List.of(false, true, false, true), noted, "a change of the round before has been checked");
        assertFalse(next.signalled, "the leader's condition holds");
        assertFalse(leading.takesNote(on), "it does not lead");
    }

    @Test
    void shouldNoteNoChangeForAThreadThatLeadsNoMore() {
        Leading leading = leading(POLICY);
        lastPoll = 1;
        assertEquals(WaitOutcome.MET, lead(leading, false, on, FOREVER));
        assertTrue(lead.tryTake(Thread.currentThread()));
        assertFalse(leading.takesNote(on), "nothing waits");
        lead.release();
    }

    @Test
    void shouldPassAChangeOnThatItHasNotChecked() {
        Leading leading = leading(POLICY);
        nextWaits(on);
        events.put(2, () -> {
            assertTrue(leading.takesNote(on));
            throw new IllegalArgumentException("a handler fails");
        });
        assertThrows(IllegalArgumentException.class, () -> lead(leading, false, on, FOREVER));
        assertTrue(next.signalled);
    }

    @Test
    void shouldPassAChangeOnThatItWasToldOfInItsSleep() {
        Leading leading = leading(adaptive(0, 0));
        bed.meanwhile = () -> {
            nextWaits(on);
            waitList.signalOne(on); // the leader has registered first
            assertFalse(next.signalled);
        };
        events.put(17, () -> {
            throw new IllegalArgumentException("a handler fails");
        });
        assertThrows(IllegalArgumentException.class, () -> lead(leading, false, on, FOREVER));
        assertTrue(next.signalled);
    }

    @Test
    void shouldPassAChangeOnBeforeAHandlerWaits() {
        Leading leading = leading(POLICY);
        Waitable reply = new Waitable();
        nextWaits(on);
        lastPoll = 9;
        List<Boolean> seen = new ArrayList<>();
        events.put(2, () -> assertTrue(leading.takesNote(on)));
        events.put(4, () -> {
            // as a handler of this round would wait
            assertTrue(leading.takesNote(on));
            assertEquals(WaitOutcome.MET, leading.lead(true, reply, () -> pollCount >= 6, FOREVER));
            seen.add(next.signalled);
            seen.add(leading.takesNote(reply));
            seen.add(leading.takesNote(on));
        });
        events.put(5, () -> seen.add(leading.takesNote(reply)));
        assertEquals(WaitOutcome.MET, lead(leading, false, on, FOREVER));
        assertEquals(List.of(true, true, false, true), seen);
    }

    @Test
    void shouldPassAChangeOnBeforeAHandlerReleasesTheLead() {
        Leading leading = leading(POLICY);
        nextWaits(on);
        Dispatcher _ = engine.addDispatcher(
                () -> {
                    if (pollCount < 3) {
                        return 0;
                    }
                    assertTrue(leading.takesNote(on));
                    leading.releaseFromHandler();
                    assertFalse(lead.isHeld());
                    return Rounds.LEAD_IS_GONE;
                },
                WaitHint.AUTO);
        assertEquals(WaitOutcome.LEAD_IS_GONE, lead(leading, false, on, FOREVER));
        assertTrue(next.signalled);
        assertTrue(lead.tryTake(Thread.currentThread()));
        assertFalse(leading.takesNote(on));
        lead.release();
    }

    /** The thread that takes the lead from a sleeper does not check what the sleeper waits on. */
    @Test
    void shouldForgetWhatTheSleeperWaitsOn() throws Exception {
        bed.asks = true;
        Leading leading = leading(POLICY);
        List<Boolean> seen = new ArrayList<>();
        bed.meanwhile = () -> {
            assertTrue(lead.tryTake(Thread.currentThread()));
            assertEquals(WaitOutcome.MET, leading.lead(false, new Waitable(), () -> true, FOREVER));
            seen.add(leading.takesNote(on));
            lead.release();
        };
        assertEquals(WaitOutcome.LEAD_IS_GONE, inOwnThread(() -> lead(leading, false, on, FOREVER)));
        assertEquals(List.of(false), seen);
    }

    @Test
    void shouldWaitOnTheSameObjectWhenTheLentLeadCameBack() throws Exception {
        bed.asks = true;
        lastPoll = 20;
        Leading leading = leading(POLICY);
        bed.meanwhile = () -> {
            Thread self = Thread.currentThread();
            assertTrue(lead.tryTake(self));
            leading.begin();
            assertTrue(lead.giveBack(self));
        };
        List<Boolean> seen = new ArrayList<>();
        events.put(18, () -> seen.add(leading.takesNote(on)));
        assertEquals(WaitOutcome.MET, inOwnThread(() -> lead(leading, false, on, FOREVER)));
        assertEquals(List.of(true), seen);
    }
}
