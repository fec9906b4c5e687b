package io.madeleine.nexus;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class SweeperTest {
    @Test
    void shouldPauseBetweenLooksThoughWhatItRunsLeavesItsThreadInterrupted() throws Exception {
        BlockingQueue<Long> looksNs = new LinkedBlockingQueue<>();
        AtomicBoolean over = new AtomicBoolean();
        Sweeper sweeper = new Sweeper(over::get, nowNs -> {
            looksNs.add(nowNs);
            Thread.currentThread().interrupt();
        });
        sweeper.wake();
        long firstNs = looksNs.take();
        for (int i = 0; i < 9; i++) {
            looksNs.take();
        }
        long tookNs = looksNs.take() - firstNs;
        over.set(true);
        assertTrue(tookNs > 50_000_000, "ten pauses of 10 ms took " + tookNs + " ns");
    }
}
