package io.madeleine.tm.bip.protocol;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

/** The rate of a path, from rounds of a millisecond. */
class DeliveryRateTest {
    private static final long ROUND_NS = 1_000_000;

    private final DeliveryRate rate = new DeliveryRate();
    private long nowNs;

    private void rounds(int count, int bytes, boolean wasFull) {
        for (int i = 0; i < count; i++) {
            nowNs += ROUND_NS;
            rate.acknowledged(bytes);
            rate.endRound(nowNs, wasFull);
        }
    }

    @Test
    void shouldTakeTheHighestRateOfTheLastFullRounds() {
        rounds(2, 100_000, true);
        assertEquals(0.1, rate.bytesPerNs(), 1e-9);
        rounds(1, 120_000, true);
        rounds(DeliveryRate.PERIOD_ROUNDS, 50_000, true);
        assertEquals(0.12, rate.bytesPerNs(), 1e-9);
        rounds(2 * DeliveryRate.PERIOD_ROUNDS, 50_000, true);
        assertEquals(0.05, rate.bytesPerNs(), 1e-9);
    }

    /** As in a conversation between two large messages: the second one need not find the rate again. */
    @Test
    void shouldKeepTheRateWhileThereIsLittleToSend() {
        rounds(4, 100_000, true);
        rounds(100, 8, false);
        assertEquals(0.1, rate.bytesPerNs(), 1e-9);
        rounds(1, 110_000, false);
        assertEquals(0.11, rate.bytesPerNs(), 1e-9);
    }
}
