package io.madeleine.pmm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class CrowdedProcessorTest {
    private static final long SHORT_NS = 20_000;
    private static final long LONG_NS = 2_000_000;

    private long nowNs = Long.MAX_VALUE - 1_000; // the clock passes its largest value
    private long yieldNs;
    private long timeOfDayMs;
    private final CrowdedProcessor processor =
            new CrowdedProcessor(() -> nowNs += yieldNs, () -> nowNs, () -> timeOfDayMs);

    private void yieldFor(long durationNs, int times) {
        yieldNs = durationNs;
        for (int i = 0; i < times; i++) {
            processor.leaveForAMoment();
        }
    }

    /** Returns how long no processor is spare from now on, in milliseconds. */
    private long takenMs() {
        long beganNs = nowNs;
        while (!processor.isSpare(nowNs)) {
            nowNs += 1_000_000;
        }
        return (nowNs - beganNs) / 1_000_000;
    }

    @Test
    void shouldBeUsedWhereProcessesOutnumberProcessors() {
        for (boolean crowded : new boolean[] {false, true}) {
            WaitPolicy policy = new WaitPolicy(WaitMode.ADAPTIVE, 0, 20, 1, false, crowded);
            assertEquals(crowded, SpareProcessor.of(policy) instanceof CrowdedProcessor);
        }
    }

    /** Each further look would keep a process that has something to do from this processor. */
    @Test
    void shouldBeLeftAfterEachRoundWithoutNews() {
        SelectorReactor reactor = new SelectorReactor();
        FakeNetwork network = new FakeNetwork(reactor);
        Thread waiting = Thread.currentThread();
        List<Integer> polls = new ArrayList<>();
        CrowdedProcessor left = new CrowdedProcessor(
                () -> {
                    if (Thread.currentThread() == waiting) {
                        polls.add(network.pollCount.get());
                    }
                },
                () -> 0,
                () -> 0);
        WaitPolicy policy = new WaitPolicy(WaitMode.ADAPTIVE, 0, 20, 1_000_000_000, false, true);
        try (ProgressEngine engine = new ProgressEngine("crowded", reactor, policy, new Demands(), left)) {
            engine.addSource(network);
            assertTrue(engine.await(new Waitable(), () -> polls.size() >= 10, ProgressEngine.NO_DEADLINE));
        } finally {
            reactor.close();
        }
        for (int i = 1; i < 10; i++) {
            assertEquals(polls.get(i - 1) + 1, polls.get(i), "polls until yield " + i);
        }
    }

    @Test
    void shouldFindAProcessorSpareWhileLongYieldsAreNotTheMost() {
        for (int i = 0; i < 1_000; i++) {
            yieldFor(LONG_NS, 1);
            yieldFor(SHORT_NS, 1);
            assertTrue(processor.isSpare(nowNs));
        }
    }

    @Test
    void shouldFindNoneSpareWhenLongYieldsHaveOutnumberedShortOnes() {
        yieldFor(SHORT_NS, 10_000);
        yieldFor(LONG_NS, CrowdedProcessor.MOST_LONG - 1);
        assertTrue(processor.isSpare(nowNs));
        yieldFor(LONG_NS, 1);
        assertFalse(processor.isSpare(nowNs));
    }

    @Test
    void shouldYieldAgainAtTheSameTimeAsTheOtherProcessesOfTheHost() {
        timeOfDayMs = 7 * CrowdedProcessor.PERIOD_MS + 300;
        yieldFor(LONG_NS, CrowdedProcessor.MOST_LONG);
        assertEquals(CrowdedProcessor.PERIOD_MS - 300, takenMs());
    }

    @Test
    void shouldFindNoneSpareAgainAfterHalfAsManyLongYields() {
        yieldFor(LONG_NS, CrowdedProcessor.MOST_LONG);
        assertEquals(CrowdedProcessor.PERIOD_MS, takenMs());
        yieldFor(LONG_NS, CrowdedProcessor.MOST_LONG / 2 - 1);
        assertTrue(processor.isSpare(nowNs));
        yieldFor(LONG_NS, 1);
        assertFalse(processor.isSpare(nowNs));
    }
}
