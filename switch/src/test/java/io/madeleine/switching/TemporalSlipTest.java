package io.madeleine.switching;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class TemporalSlipTest {
    private final TemporalSlip slip = new TemporalSlip();

    private void stream(int messages, long sent) {
        for (int i = 0; i < messages; i++) {
            assertFalse(slip.pausesIfCaughtUp(sent), () -> "a pause before the stream is dense");
            slip.looked(true, 1);
        }
    }

    @Test
    void shouldPauseOnceAStreamIsDense() {
        stream(TemporalSlip.DENSE_COUNT, 0);
        assertTrue(slip.pausesIfCaughtUp(0));
        slip.looked(true, 1);
        assertTrue(slip.pausesIfCaughtUp(0));
    }

    @Test
    void shouldNotPauseForAReceiverThatAnswers() {
        for (long sent = 1; sent < 100; sent++) {
            assertFalse(slip.pausesIfCaughtUp(sent));
            slip.looked(true, 1);
        }
    }

    @Test
    void shouldForgetAStreamThatHasEnded() {
        stream(TemporalSlip.DENSE_COUNT, 0);
        assertTrue(slip.pausesIfCaughtUp(0));
        slip.looked(false, 128);
        stream(TemporalSlip.DENSE_COUNT, 0);
        assertTrue(slip.pausesIfCaughtUp(0));
        slip.looked(true, TemporalSlip.SOON_POLLS + 1);
        stream(TemporalSlip.DENSE_COUNT, 0);
    }
}
