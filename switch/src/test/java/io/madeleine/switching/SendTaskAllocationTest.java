package io.madeleine.switching;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import io.madeleine.api.OutgoingMessage;
import io.madeleine.api.SendTask;
import io.madeleine.pmm.spi.AggregationMode;
import io.madeleine.testkit.LoopTm;
import io.madeleine.testkit.messages.LocalSessions;
import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** To schedule, cancel and run a send task costs no allocation. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class SendTaskAllocationTest {
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private static final int COUNT = 2_000;
    private static final int STRETCHES = 8;

    @Test
    @Tag("measures")
    void shouldAllocateNothingToScheduleCancelAndRunATask() {
        AtomicInteger runs = new AtomicInteger();
        try (LocalSessions sessions = LocalSessions.of(2)
                .loop("loop", List.of(LoopTm.withStaticBuffers("short", AggregationMode.ASYMMETRIC, 112, 1024)))
                .open()) {
            SendTask task = sessions.channel(0).newSendTask(1, runs::incrementAndGet);
            SendTask other = sessions.channel(0).newSendTask(1, runs::incrementAndGet);
            OutgoingMessage inTheWay = sessions.channel(0).beginPacking(1);
            double best = bestPerTime(() -> {
                task.schedule();
                other.schedule();
                assertTrue(task.cancel());
                assertTrue(other.cancel());
            });
            assertEquals(0, runs.get());
            inTheWay.close();
            best = Math.max(best, bestPerTime(() -> {
                int before = runs.get();
                task.schedule();
                while (runs.get() == before) {
                    Thread.yield(); // the leader may have come first, and need this processor
                }
            }));
            assertTrue(best < 1, best + " bytes each time");
        }
    }

    /** What the JVM does now and then is no price of a task. */
    private static double bestPerTime(Runnable body) {
        double best = Double.MAX_VALUE;
        for (int stretch = 0; stretch < STRETCHES; stretch++) {
            long before = THREADS.getCurrentThreadAllocatedBytes();
            for (int i = 0; i < COUNT; i++) {
                body.run();
            }
            best = Math.min(best, (THREADS.getCurrentThreadAllocatedBytes() - before) / (double) COUNT);
        }
        return best;
    }
}
