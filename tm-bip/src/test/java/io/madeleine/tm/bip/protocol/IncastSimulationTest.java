package io.madeleine.tm.bip.protocol;

import org.junit.jupiter.api.Test;

/** Several senders and one receiver over a hostile network, in virtual time; beside {@link SimulationTest}. */
class IncastSimulationTest {
    @Test
    void shouldServeSeveralSendersWithinTheBudgetOfTheirReceiver() {
        Seeds.run(Seeds.COUNT / 10, seed -> new IncastSimulation(seed).run());
    }
}
