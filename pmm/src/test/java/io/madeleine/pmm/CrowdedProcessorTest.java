package io.madeleine.pmm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.pmm.spi.ProgressSource;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
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

    /** A network without news, of which a look takes longer than a yield. */
    private static final class SlowNetwork implements ProgressSource {
        private final AtomicInteger pollCount = new AtomicInteger();

        @Override
        public int poll(long nowNs) {
            pollCount.incrementAndGet();
            long beganNs = System.nanoTime();
            while (System.nanoTime() - beganNs < 5_000) {
                Thread.onSpinWait();
            }
            return 0;
        }

        @Override
        public boolean armForBlocking() {
            return true;
        }

        @Override
        public void disarm() {}
    }

    /** Each further look would keep a process that has something to do from this processor. */
    @Test
    void shouldBeLeftAfterEachLongLookWithoutNews() {
        SlowNetwork network = new SlowNetwork();
        Thread waiting = Thread.currentThread();
        List<Integer> polls = new ArrayList<>();
        Runnable yielding = () -> {
            if (Thread.currentThread() == waiting) {
                polls.add(network.pollCount.get());
            }
        };
        WaitPolicy policy = new WaitPolicy(WaitMode.ADAPTIVE, 0, 20, 1_000_000_000, false, true);
        try (SelectorReactor reactor = new SelectorReactor();
                ProgressEngine engine = new ProgressEngine(
                        "crowded",
                        reactor,
                        policy,
                        new Demands(),
                        new CrowdedProcessor(yielding, System::nanoTime, System::currentTimeMillis))) {
            engine.addSource(network);
            assertTrue(engine.await(new Waitable(), () -> polls.size() >= 10, ProgressEngine.NO_DEADLINE));
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
