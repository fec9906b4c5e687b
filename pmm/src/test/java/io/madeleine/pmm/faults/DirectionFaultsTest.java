package io.madeleine.pmm.faults;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class DirectionFaultsTest {
    private static final long MS = 1_000_000;

    @Test
    void shouldNameOnlyTheFaultsThatThereAre() {
        assertEquals("{no faults}", DirectionFaults.NONE.summary());
        assertEquals("{is cut after 5.0 ms}", new DirectionFaults(0, 0, 0, 0, 5 * MS).summary());
        assertEquals("{delay 2.0 ms}", new DirectionFaults(2 * MS, 0, 0, 0, DirectionFaults.NEVER).summary());
        assertEquals(
                "{delay 2.0 ms to 3.0 ms, stalls after 1.0 ms for 4.0 ms}",
                new DirectionFaults(2 * MS, MS, MS, 4 * MS, DirectionFaults.NEVER).summary());
    }
}
