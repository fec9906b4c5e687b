package io.madeleine.tm.bip.protocol;

import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

/** Connections over a hostile network, in virtual time. A failure names its seed. */
class SimulationTest {
    private static final long TIMEOUT_NS = 2_000_000_000L;

    @Test
    void shouldDeliverEveryByteOnceAndInOrderOverAnyNetwork() {
        Seeds.run(Seeds.COUNT, seed -> new Simulation(seed).runWhole());
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
        Seeds.run(Seeds.COUNT / 10, seed -> new Simulation(seed).runLeaving());
    }

    @Test
    void shouldNoticeADeadNetworkWithinTheTimeThatWasSet() {
        Seeds.run(Seeds.COUNT / 10, seed -> new Simulation(seed, TIMEOUT_NS).runDeath());
    }
}
