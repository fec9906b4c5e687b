package io.madeleine.tm.sci.wake;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RingDelayTest {
    private static final long SLEEP = 7;

    @TempDir
    Path directory;

    private final RingDelay delay = new RingDelay();
    private static final BooleanSupplier NOT_READ = () -> false;
    private int looks;

    /** Whether the sender rings for a peer that wakes up after so many looks; counts the looks. */
    private boolean rings(int looksAsleep) {
        looks = 0;
        return delay.isRingNeeded(sleep -> ++looks <= looksAsleep, SLEEP, NOT_READ);
    }

    @Test
    void shouldNotRingForAPeerThatWakesUpByItself() {
        assertFalse(rings(RingDelay.LOOKS / 2));
        assertEquals(RingDelay.LOOKS / 2 + 1, looks);
    }

    @Test
    void shouldNotRingForAPeerWhoseThreadReadsEverythingBesideTheSleeper() {
        int[] left = {RingDelay.LOOKS / 2};
        assertFalse(delay.isRingNeeded(sleep -> true, SLEEP, () -> --left[0] < 0));
        assertFalse(delay.isRingNeeded(sleep -> true, SLEEP, () -> true));
    }

    @Test
    void shouldRingForAPeerThatSleepsOn() {
        assertTrue(rings(Integer.MAX_VALUE));
        assertEquals(RingDelay.LOOKS, looks);
    }

    @Test
    void shouldRingAtOnceForAPeerThatNeverWakesUpByItselfButTryAgainNowAndThen() {
        for (int i = 0; i < RingDelay.MOST_USELESS; i++) {
            assertTrue(rings(Integer.MAX_VALUE));
            assertEquals(RingDelay.LOOKS, looks);
        }
        int watched = 0;
        for (int i = 0; i < 4 * RingDelay.BETWEEN_TRIES; i++) {
            assertTrue(rings(Integer.MAX_VALUE));
            watched += looks / RingDelay.LOOKS;
        }
        assertEquals(4, watched);
    }

    @Test
    void shouldWatchAgainEachTimeOnceAPeerHasWokenUpByItself() {
        for (int i = 0; i < RingDelay.MOST_USELESS + 1; i++) {
            boolean _ = rings(Integer.MAX_VALUE);
        }
        while (rings(1)) {
            assertEquals(0, looks);
        }
        assertTrue(rings(Integer.MAX_VALUE));
        assertEquals(RingDelay.LOOKS, looks);
    }

    @Test
    void shouldTakeTheNextSleepOfTheOwnerForASignThatItWasAwake() throws Exception {
        Path file = directory.resolve("inbox");
        try (Inbox own = Inbox.create(file);
                Inbox peers = Inbox.open(file)) {
            own.fallAsleep();
            long sleep = peers.announce(1);
            assertTrue(peers.isRingNeeded(sleep, NOT_READ));
            own.wake();
            assertFalse(peers.isRingNeeded(sleep, NOT_READ));
            own.fallAsleep();
            assertFalse(peers.isRingNeeded(sleep, NOT_READ));
        }
    }
}
