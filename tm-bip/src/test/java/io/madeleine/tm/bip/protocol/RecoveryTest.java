package io.madeleine.tm.bip.protocol;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Bounds that only a very large window reaches, and what goes again at a time-out. */
class RecoveryTest {
    private static final int WINDOW_BYTES = 64 << 20;
    private static final long SECOND_NS = 1_000_000_000L;
    private static final EndpointSettings SETTINGS =
            new EndpointSettings(WINDOW_BYTES, WINDOW_BYTES, 65_464, 1_000_000, 60 * SECOND_NS, SECOND_NS, false);

    private final List<Long> again = new ArrayList<>();
    private final Recovery recovery = new Recovery(SETTINGS, new Recovery.Fate() {
        @Override
        public void acknowledged(long number) {
            // of no interest
        }

        @Override
        public void lost(long number) {
            again.add(number);
        }
    });

    private static void send(Recovery by, int count) {
        for (int i = 0; i < count; i++) {
            by.sent(by.sent.begin(), 1, 0);
        }
    }

    @Test
    void shouldSendNoMoreDataThanItHasRecordsFor() {
        send(recovery, SentPackets.MOST_RECORDS - 1);
        assertTrue(recovery.permits());
        send(recovery, 1);
        assertFalse(recovery.permits());
    }

    @Test
    void shouldSendNotEvenAnAcknowledgementWithoutARecord() {
        RingPool pool = new RingPool(() -> 0);
        Sending sending = new Sending(
                SETTINGS,
                pool,
                new Receiving(
                        SETTINGS,
                        pool,
                        new GrantScheduler(SETTINGS, 1 << 20, GrantScheduler.Order.SHORTEST),
                        1,
                        0,
                        DatagramLayout.STREAM_COUNT),
                null);
        Datagram datagram = new Datagram(Arena.ofAuto());
        send(sending.recovery, 2 * SentPackets.MOST_RECORDS - 1);
        assertTrue(sending.produce(1, datagram, 7, true) > 0);
        assertEquals(0, sending.produce(1, datagram, 7, true));
    }

    @Test
    void shouldRepeatTheOldestAtTheFirstTimeoutAlone() {
        send(recovery, 5);
        long dueNs = recovery.deadlineNs();
        recovery.onTime(dueNs);
        assertEquals(List.of(0L, 1L), again);
        assertTrue(recovery.permits(), "the probes carry data");
        send(recovery, Recovery.PROBES);
        assertFalse(recovery.isProbeDue());
        recovery.onTime(recovery.deadlineNs());
        assertEquals(2, again.size());
        assertTrue(recovery.isProbeDue());
        assertFalse(recovery.permits(), "a further time-out asks, and sends no data");
    }

    private void acknowledge(long number, long nowNs) {
        recovery.beginAck();
        recovery.ackRange(number, number);
        recovery.endAck(number, 0, nowNs);
    }

    @Test
    void shouldWaitForMoreLaterOnesAndLongerAfterALossThatWasNone() {
        send(recovery, 5);
        acknowledge(4, 8_000_000);
        assertEquals(List.of(0L, 1L), again, "three later ones were sent before the one that arrived");
        for (long number : new long[] {0, 2, 3}) {
            acknowledge(number, 8_000_000); // the first was late, and not lost
        }
        send(recovery, 5);
        acknowledge(9, 8_000_000);
        assertEquals(List.of(0L, 1L), again);
        assertTrue(recovery.deadlineNs() > 16_000_000, "twice the usual time passes before they count as lost");
    }
}
