package io.madeleine.pmm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Many short waits, of platform and virtual threads, for what other threads signal and what a network brings. Each
 * event is sent once, and the next one to the same waiter only after it has been seen: a wake-up that is lost shows as
 * a wait that reaches its deadline.
 */
class LostWakeUpTest {
    private static final int WAITERS = 6;
    private static final int DRIVERS = 2;
    private static final long DURATION_NS = 1_500_000_000L;
    private static final long DEADLINE_NS = 8_000_000_000L;

    /** A waiting thread and what it waits for. */
    private static final class Station {
        final Waitable news = new Waitable();
        final AtomicInteger sent = new AtomicInteger();
        volatile int arrived;
        volatile int seen;
        volatile boolean stopped;
    }

    private final Station[] stations = new Station[WAITERS];
    private final ConcurrentLinkedQueue<Station> onTheWay = new ConcurrentLinkedQueue<>();
    private final AtomicReference<String> failure = new AtomicReference<>();

    @ParameterizedTest
    @EnumSource(WaitMode.class)
    @Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void shouldLoseNoWakeUp(WaitMode mode) throws InterruptedException {
        SelectorReactor reactor = new SelectorReactor();
        ProgressEngine engine = new ProgressEngine("stress", reactor, new WaitPolicy(mode, 5_000, 3));
        FakeNetwork network = new FakeNetwork(reactor);
        network.listener = () -> arrive(engine, onTheWay.remove());
        engine.addSource(network);
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < WAITERS; i++) {
            Station station = stations[i] = new Station();
            threads.add((i % 2 == 0 ? Thread.ofPlatform() : Thread.ofVirtual())
                    .start(() -> waitAgainAndAgain(engine, station)));
        }
        for (int i = 0; i < DRIVERS; i++) {
            int driver = i;
            threads.add(Thread.ofPlatform().start(() -> drive(engine, network, driver)));
        }
        for (Thread thread : threads) {
            thread.join();
        }
        engine.close();
        reactor.close();
        assertNull(failure.get());
        assertNull(network.violation.get());
        assertEquals(0, engine.demand());
    }

    private static void arrive(ProgressEngine engine, Station station) {
        station.arrived++; // one event is under way at a time
        engine.signal(station.news);
    }

    private void waitAgainAndAgain(ProgressEngine engine, Station station) {
        while (!station.stopped) {
            int next = station.seen + 1;
            boolean met = engine.await(
                    station.news, () -> station.arrived >= next || station.stopped, System.nanoTime() + DEADLINE_NS);
            if (!met) {
                failure.compareAndSet(
                        null,
                        "a wait of " + Thread.currentThread() + " was not ended: sent " + station.sent.get()
                                + ", arrived " + station.arrived + ", seen " + station.seen);
                return;
            }
            if (!station.stopped) {
                station.seen = next;
            }
        }
    }

    private void drive(ProgressEngine engine, FakeNetwork network, int driver) {
        Random random = new Random(driver);
        long untilNs = System.nanoTime() + DURATION_NS;
        while (untilNs - System.nanoTime() > 0 && failure.get() == null) {
            Station station = stations[driver + DRIVERS * random.nextInt(WAITERS / DRIVERS)];
            if (station.seen == station.sent.get()) {
                station.sent.incrementAndGet();
                if (random.nextBoolean()) {
                    arrive(engine, station);
                } else {
                    onTheWay.add(station);
                    network.send();
                }
            }
            if (random.nextInt(4) == 0) {
                LockSupport.parkNanos(random.nextInt(150_000));
            }
        }
        for (int i = driver; i < WAITERS; i += DRIVERS) {
            long giveUpNs = System.nanoTime() + DEADLINE_NS;
            while (stations[i].seen != stations[i].sent.get() && giveUpNs - System.nanoTime() > 0) {
                Thread.onSpinWait();
            }
            stations[i].stopped = true;
            engine.signal(stations[i].news);
        }
    }
}
