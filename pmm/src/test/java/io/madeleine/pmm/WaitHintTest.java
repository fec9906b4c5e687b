package io.madeleine.pmm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.fail;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** How long those who wait go on polling, by what counts for them and for the others that wait. */
@Timeout(value = 100, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@Tag("measures")
class WaitHintTest {
    private static final long SPIN_NS = 100_000_000;
    private static final int LONGER_MS = 200;

    /** Who spins polls thousands of times, who goes to sleep a few times. */
    private static final int MANY_POLLS = 200;

    private static final int SILENT_MOMENTS = 6;

    private final SelectorReactor reactor = new SelectorReactor();
    private final ProgressEngine engine = new ProgressEngine(
            "test", reactor, new WaitPolicy(WaitMode.ADAPTIVE, SPIN_NS, 3), new Demands(), SpareProcessorTest.always());
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

    /**
     * Whether somebody goes on polling. Who does may have lost its processor: only several silent moments in a row
     * count as silence; and who is about to stop gets time for it.
     */
    private static void assertPolled(boolean expected, FakeNetwork network, String what) throws InterruptedException {
        int before = network.pollCount.get();
        int silent = 0;
        for (int tries = 0; tries < 200; tries++) {
            Thread.sleep(30);
            int now = network.pollCount.get();
            silent = now - before <= 3 ? silent + 1 : 0;
            if (expected ? now - before > MANY_POLLS : silent == SILENT_MOMENTS) {
                return;
            }
            before = expected ? before : now;
        }
        fail(what + ": expected " + (expected ? "" : "not ") + "to be polled");
    }

    @ParameterizedTest
    @CsvSource({"CPU, false, false", "THROUGHPUT, true, false", "AUTO, true, false", "LATENCY, true, true"})
    void shouldPollAsLongAsTheHintSays(WaitHint hint, boolean within, boolean after) throws InterruptedException {
        for (boolean virtual : new boolean[] {false, true}) {
            int polls = 0;
            int tries = 0;
            do { // who polls may have lost its processor
                polls = pollsWhileAThreadWaits(hint, virtual, after);
            } while (within && polls <= MANY_POLLS && ++tries < 5);
            assertEquals(within, polls > MANY_POLLS, hint + ", virtual: " + virtual + ": " + polls + " polls");
        }
    }

    private int pollsWhileAThreadWaits(WaitHint hint, boolean virtual, boolean polledAfter)
            throws InterruptedException {
        over.set(false);
        Waitable on = new Waitable(hint);
        int before = network.pollCount.get();
        Thread thread = waitOn(on, virtual);
        while (network.pollCount.get() == before) {
            Thread.sleep(1);
        }
        Thread.sleep(LONGER_MS);
        assertPolled(polledAfter, network, hint + " later, virtual: " + virtual);
        int polls = network.pollCount.get() - before;
        end(thread, on);
        return polls;
    }

    @Test
    void shouldPollForTheMostImpatientOfAllThatWait() throws InterruptedException {
        Waitable patient = new Waitable(WaitHint.CPU);
        Thread leader = waitOn(patient, false);
        assertPolled(false, network, "one that is patient");
        Waitable impatient = new Waitable(WaitHint.LATENCY);
        Thread follower = waitOn(impatient, true);
        Thread.sleep(LONGER_MS);
        assertPolled(true, network, "beside one that is impatient");
        end(follower, impatient);
        end(leader, patient);
    }

    @Test
    void shouldPollForTheSakeOfHandlers() throws InterruptedException {
        Waitable patient = new Waitable(WaitHint.CPU);
        engine.addDispatcher(() -> 0, WaitHint.LATENCY);
        Thread leader = waitOn(patient, false);
        Thread.sleep(LONGER_MS);
        assertPolled(true, network, "beside an impatient handler");
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
            while (silent.pollCount.get() == 0) {
                Thread.sleep(1);
            }
            assertPolled(polled, silent, mode + " with " + hint);
            assertEquals(polled, silent.pollCount.get() > MANY_POLLS);
            over.set(true);
            commanded.signal(on);
            thread.join();
        }
    }
}
