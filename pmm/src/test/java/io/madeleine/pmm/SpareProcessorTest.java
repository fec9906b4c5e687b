package io.madeleine.pmm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.pmm.spi.ProgressSource;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class SpareProcessorTest {
    private long nowNs = Long.MAX_VALUE - 1_000; // the clock passes its largest value
    private long yieldNs;
    private final SpareProcessor processor = new SpareProcessor(() -> nowNs += yieldNs, () -> nowNs);

    /** A processor is spare whatever else the machine does: no yield seems to take long. */
    static SpareProcessor always() {
        long beganNs = System.nanoTime();
        return new SpareProcessor(Thread::yield, () -> beganNs);
    }

    private void yieldFor(long durationNs) {
        yieldNs = durationNs;
        processor.leaveForAMoment();
    }

    /** Returns how long no processor is spare from now on. */
    private long takenNs() {
        long beganNs = nowNs;
        while (!processor.isSpare(nowNs)) {
            nowNs += 100_000;
        }
        return nowNs - beganNs;
    }

    @Test
    void shouldFindAProcessorSpareWhileYieldsAreShort() {
        for (int i = 0; i < 10_000; i++) {
            yieldFor(SpareProcessor.LONG_YIELD_NS - 1);
            assertTrue(processor.isSpare(nowNs));
        }
    }

    @Test
    void shouldFindNoneSpareForLongerAndLongerWhileEachYieldIsLong() {
        for (long expectedNs = SpareProcessor.SHORTEST_NS; expectedNs < SpareProcessor.LONGEST_NS; expectedNs *= 2) {
            yieldFor(3_000_000);
            assertEquals(expectedNs, takenNs());
        }
        for (int i = 0; i < 3; i++) {
            yieldFor(3_000_000);
            assertEquals(SpareProcessor.LONGEST_NS, takenNs());
        }
    }

    @Test
    void shouldForgetWhatWasLongAgo() {
        for (int i = 0; i < 5; i++) {
            yieldFor(3_000_000);
            takenNs();
        }
        nowNs += SpareProcessor.LONGEST_NS;
        yieldFor(3_000_000);
        assertEquals(SpareProcessor.SHORTEST_NS, takenNs());
    }

    /** Its patience alone would have the thread poll until its deadline. */
    @Test
    void shouldLetAWaitingThreadSleepBesideThreadsThatCompute() throws Exception {
        AtomicBoolean over = new AtomicBoolean();
        AtomicInteger sleeps = new AtomicInteger();
        int count = 2 * Runtime.getRuntime().availableProcessors();
        for (int i = 0; i < count; i++) {
            Thread.ofPlatform().daemon().start(() -> {
                while (!over.get()) {
                    Thread.onSpinWait();
                }
            });
        }
        SelectorReactor reactor = new SelectorReactor();
        WaitPolicy policy = new WaitPolicy(WaitMode.ADAPTIVE, TimeUnit.MINUTES.toNanos(10), 20);
        try (ProgressEngine engine = new ProgressEngine("test", reactor, policy)) {
            engine.addSource(new ProgressSource() {
                @Override
                public int poll(long nowNs) {
                    return 0;
                }

                @Override
                public boolean armForBlocking() {
                    sleeps.incrementAndGet();
                    return true;
                }

                @Override
                public void disarm() {}
            });
            Waitable never = new Waitable();
            for (int i = 0; i < 50 && sleeps.get() == 0; i++) {
                long deadlineNs = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(200);
                assertFalse(engine.await(never, () -> false, deadlineNs));
            }
        } finally {
            over.set(true);
            reactor.close();
        }
        assertTrue(sleeps.get() > 0, "the thread has polled all the time");
    }
}
