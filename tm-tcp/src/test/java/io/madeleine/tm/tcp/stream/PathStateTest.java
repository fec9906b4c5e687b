package io.madeleine.tm.tcp.stream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

/** Sequences of what the kernel tells; times in nanoseconds. */
class PathStateTest {
    private int heard;
    private final PathState path = new PathState("key", () -> heard);
    private long nowNs = Long.MAX_VALUE - 1_000; // as nanoTime may be

    private long after(long ns, long bytes, int retransmissions, int probes) {
        nowNs += ns;
        return path.look(new SocketTable.Row(bytes, retransmissions, probes), nowNs);
    }

    @Test
    void shouldCountFromTheFirstAttemptThatIsSeen() {
        assertEquals(0, after(500, 2000, 0, 0));
        assertEquals(0, after(500, 9000, 1, 0));
        assertEquals(500, after(500, 9000, 2, 0));
        assertEquals(1000, after(500, 9000, 2, 0));
        assertEquals(5000, after(4000, 9000, 4, 0));
        assertEquals("9000 bytes are unacknowledged after 4 more attempts", path.describe());
    }

    @Test
    void shouldTakeAnAcknowledgementOfAnythingAsAnAnswer() {
        after(500, 9000, 1, 0);
        after(500, 9000, 2, 0);
        assertEquals(0, after(500, 8999, 3, 0)); // lost again, but something had come through
        assertEquals(0, after(500, 8999, 3, 0));
        assertEquals(1000, after(500, 8999, 4, 0));
        assertEquals(0, after(500, 9999, 1, 0));
        assertEquals(0, after(500, 9999, 0, 0));
    }

    @Test
    void shouldNotTakeLossesOnABadLinkForSilence() {
        for (int look = 0; look < 100; look++) { // each time the first attempt, of other bytes
            assertEquals(0, after(500, 9000, 1, 0));
        }
    }

    @Test
    void shouldNotTakeAFullReceiverForSilence() {
        for (int look = 0; look < 100; look++) {
            assertEquals(0, after(500, 1 << 20, 0, look % 2)); // a probe is on its way, or has been answered
        }
        assertEquals(0, after(500, 1 << 20, 0, 2));
        assertEquals(700, after(700, 1 << 20, 0, 3));
    }

    @Test
    void shouldBeLookedAtOnlyWhileSomethingMayBeUnacknowledged() {
        assertTrue(path.beginLook());
        after(500, 1, 0, 0);
        assertTrue(path.beginLook());
        after(500, 0, 0, 0);
        assertFalse(path.beginLook());
        path.sent();
        assertTrue(path.beginLook());
        path.missed();
        assertTrue(path.beginLook());
    }

    @Test
    void shouldNotBeLookedAtWhileThePeerIsHeard() {
        heard++;
        assertFalse(path.beginLook());
        assertTrue(path.beginLook());
        after(500, 9000, 1, 0);
        assertTrue(path.isSilent());
        heard++; // which may have come long ago
        assertTrue(path.beginLook());
        after(500, 8000, 0, 0);
        assertFalse(path.isSilent());
        heard++;
        assertFalse(path.beginLook());
    }
}
