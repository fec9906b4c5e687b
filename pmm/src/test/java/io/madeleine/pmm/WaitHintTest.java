package io.madeleine.pmm;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** How long those who wait go on polling, by what counts for them and for the others that wait. */
@Timeout(value = 30, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class WaitHintTest {
    private static final long SPIN_NS = 300_000_000;
    private static final int WITHIN_SPIN_MS = 100;
    private static final int AFTER_SPIN_MS = 500;

    private final SelectorReactor reactor = new SelectorReactor();
    private final ProgressEngine engine =
            new ProgressEngine("test", reactor, new WaitPolicy(WaitMode.ADAPTIVE, SPIN_NS, 3));
    private final FakeNetwork network = new FakeNetwork(reactor);
    private final AtomicBoolean over = new AtomicBoolean();

    WaitHintTest() {
        engine.addSource(network);
    }

    @AfterEach
    void close() {
        engine.close();
        reactor.close();
    }

    private Thread waitOn(Waitable on, boolean virtual) {
        return (virtual ? Thread.ofVirtual() : Thread.ofPlatform())
                .start(() -> engine.await(on, over::get, System.nanoTime() + 20_000_000_000L));
    }

    private void end(Thread thread, Waitable on) throws InterruptedException {
        over.set(true);
        engine.signal(on);
        thread.join();
    }

    private boolean isPolled() throws InterruptedException {
        int before = network.pollCount.get();
        Thread.sleep(30);
        return network.pollCount.get() - before > 3;
    }

    @ParameterizedTest
    @CsvSource({"CPU, false, false", "THROUGHPUT, true, false", "AUTO, true, false", "LATENCY, true, true"})
    void shouldPollAsLongAsTheHintSays(WaitHint hint, boolean within, boolean after) throws InterruptedException {
        for (boolean virtual : new boolean[] {false, true}) {
            over.set(false);
            Waitable on = new Waitable(hint);
            Thread thread = waitOn(on, virtual);
            Thread.sleep(WITHIN_SPIN_MS);
            assertEquals(within, isPolled(), hint + " within the time to spin, virtual: " + virtual);
            Thread.sleep(AFTER_SPIN_MS);
            assertEquals(after, isPolled(), hint + " later, virtual: " + virtual);
            end(thread, on);
        }
    }

    @Test
    void shouldPollForTheMostImpatientOfAllThatWait() throws InterruptedException {
        Waitable patient = new Waitable(WaitHint.CPU);
        Thread leader = waitOn(patient, false);
        Thread.sleep(50);
        Waitable impatient = new Waitable(WaitHint.LATENCY);
        Thread follower = waitOn(impatient, true);
        Thread.sleep(WITHIN_SPIN_MS + AFTER_SPIN_MS);
        assertEquals(true, isPolled(), "beside one that is impatient");
        end(follower, impatient);
        end(leader, patient);
    }

    @Test
    void shouldPollForTheSakeOfHandlers() throws InterruptedException {
        Waitable patient = new Waitable(WaitHint.CPU);
        engine.addDispatcher(() -> 0, WaitHint.LATENCY);
        Thread leader = waitOn(patient, false);
        Thread.sleep(WITHIN_SPIN_MS + AFTER_SPIN_MS);
        assertEquals(true, isPolled(), "beside an impatient handler");
        end(leader, patient);
    }

    @ParameterizedTest
    @CsvSource({"SPIN, CPU, true", "BLOCK, LATENCY, false"})
    void shouldDoAsTheModeSaysWhateverTheHint(WaitMode mode, WaitHint hint, boolean polled)
            throws InterruptedException {
        try (SelectorReactor another = new SelectorReactor();
                ProgressEngine commanded = new ProgressEngine("mode", another, new WaitPolicy(mode, SPIN_NS, 3))) {
            FakeNetwork silent = new FakeNetwork(another);
            commanded.addSource(silent);
            Waitable on = new Waitable(hint);
            Thread thread = Thread.ofPlatform()
                    .start(() -> commanded.await(on, over::get, System.nanoTime() + 20_000_000_000L));
            Thread.sleep(WITHIN_SPIN_MS);
            int before = silent.pollCount.get();
            Thread.sleep(30);
            assertEquals(polled, silent.pollCount.get() - before > 3);
            over.set(true);
            commanded.signal(on);
            thread.join();
        }
    }
}
