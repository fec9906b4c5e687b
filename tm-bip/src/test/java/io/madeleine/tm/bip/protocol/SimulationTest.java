package io.madeleine.tm.bip.protocol;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.function.LongConsumer;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** Connections over a hostile network, in virtual time. A failure names its seed. */
class SimulationTest {
    private static final int SEEDS = Integer.getInteger("madeleine.test.bip.seeds", 20_000);
    private static final long TIMEOUT_NS = 2_000_000_000L;

    private static void run(int seeds, LongConsumer scenario) {
        List<String> failures = new ArrayList<>();
        LongStream.range(0, seeds).forEach(seed -> {
            try {
                scenario.accept(seed);
            } catch (RuntimeException | AssertionError e) {
                if (failures.size() < 5) {
                    StackTraceElement[] trace = e.getStackTrace();
                    failures.add("seed " + seed + ": " + e + (trace.length == 0 ? "" : " at " + trace[0]));
                }
            }
        });
        assertEquals(List.of(), failures);
    }

    @Test
    void shouldDeliverEveryByteOnceAndInOrderOverAnyNetwork() {
        run(SEEDS, seed -> new Simulation(seed).runWhole());
    }

    @Test
    void shouldChangeKeysWhereDatagramsAreEncrypted() {
        int updates = 0;
        for (long seed = 0; seed < 400; seed++) {
            Simulation run = new Simulation(seed);
            run.runWhole();
            updates += run.updateCount();
        }
        assertTrue(updates > 400, updates + " changes of keys");
    }

    @Test
    void shouldDeliverWhatWasSentBeforeTheCloseToAPeerThatIsBusyButAnswers() {
        run(SEEDS / 10, seed -> new Simulation(seed).runLeaving());
    }

    @Test
    void shouldServeSeveralSendersWithinTheBudgetOfTheirReceiver() {
        run(SEEDS / 10, seed -> new IncastSimulation(seed).run());
    }

    @Test
    void shouldNoticeADeadNetworkWithinTheTimeThatWasSet() {
        run(SEEDS / 10, seed -> new Simulation(seed, TIMEOUT_NS).runDeath());
    }
}
