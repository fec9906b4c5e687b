package io.madeleine.pmm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.pmm.spi.ProgressSource;
import io.madeleine.pmm.spi.Reactor;
import java.nio.channels.SelectableChannel;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * A step that is enqueued at any moment while the leader falls asleep is not slept on. The moments are those at which
 * the leader calls something of this test's, so each of them comes for sure; no other thread enqueues.
 */
@Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class StepBeforeSleepTest {
    private static final int STEPS = 20;

    private final AtomicInteger enqueued = new AtomicInteger();
    private final AtomicInteger ran = new AtomicInteger();
    private final AtomicInteger sleeps = new AtomicInteger();
    private final AtomicReference<String> violation = new AtomicReference<>();
    private final WatchedReactor reactor = new WatchedReactor();
    private final ProgressEngine engine = new ProgressEngine("test", reactor, new WaitPolicy(WaitMode.BLOCK, 0, 0));
    private final Source source = new Source();

    /** Notices a sleep that begins although a step waits and nobody has woken the sleeper. */
    private final class WatchedReactor implements Reactor {
        private final SelectorReactor real = new SelectorReactor();
        private volatile boolean woken;

        private void beforeSleep() {
            sleeps.incrementAndGet();
            if (enqueued.get() != ran.get() && !woken) {
                violation.set(enqueued.get() + " steps, " + ran.get() + " of them ran before this sleep");
                real.wakeUp(); // so that the test ends
            }
            woken = false;
        }

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
            beforeSleep();
            return real.sleep(timeoutNs);
        }

        @Override
        public int sleep(long timeoutNs, BooleanSupplier mayHandle) {
            beforeSleep();
            return real.sleep(timeoutNs, mayHandle);
        }

        @Override
        public boolean asksBeforeHandling() {
            return real.asksBeforeHandling();
        }

        @Override
        public void wakeUp() {
            woken = true;
            real.wakeUp();
        }

        @Override
        public void close() {
            real.close();
        }
    }

    /** A network without news. */
    private final class Source implements ProgressSource {
        private volatile boolean armed;
        private volatile boolean enqueues;

        @Override
        public int poll(long nowNs) {
            return 0;
        }

        @Override
        public boolean armForBlocking() {
            armed = true;
            if (enqueues) {
                enqueue();
            }
            return true;
        }

        @Override
        public void disarm() {
            armed = false;
        }
    }

    private void enqueue() {
        if (enqueued.get() < STEPS) {
            enqueued.incrementAndGet();
            engine.enqueue(() -> {
                ran.incrementAndGet();
                return true;
            });
        }
    }

    private void close() {
        engine.close();
        reactor.close();
        assertNull(violation.get());
        assertEquals(STEPS, enqueued.get());
        assertEquals(STEPS, ran.get());
        assertTrue(sleeps.get() > 0);
    }

    /** Waits in vain, and again if the machine was too busy for all steps. */
    private void awaitInVain() {
        long giveUpNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
        do {
            long deadlineNs = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(500);
            assertFalse(engine.await(new Waitable(), () -> false, deadlineNs));
        } while (ran.get() < STEPS && giveUpNs - System.nanoTime() > 0);
    }

    /** In its last round, or after it, before it says that it falls asleep: nobody wakes it, it has to look itself. */
    @Test
    void shouldSeeAStepThatComesBeforeTheLeaderSaysThatItFallsAsleep() {
        engine.addSource(source);
        engine.enqueue(() -> {
            enqueue();
            return enqueued.get() == STEPS;
        });
        awaitInVain();
        close();
    }

    /** Later it looks no more, so it has to be woken. */
    @Test
    void shouldBeWokenForAStepThatComesWhileSourcesAreArmed() {
        engine.addSource(source);
        source.enqueues = true;
        awaitInVain();
        close();
    }

    @Test
    void shouldBeWokenForAStepThatComesWhileTheProgressThreadArmsSources() throws Exception {
        engine.addSource(source);
        source.enqueues = true;
        engine.raiseDemand();
        long endNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
        while (ran.get() < STEPS && endNs - System.nanoTime() > 0) {
            Thread.sleep(1);
        }
        engine.lowerDemand();
        close();
    }
}
