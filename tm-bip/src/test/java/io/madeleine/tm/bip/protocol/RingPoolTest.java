package io.madeleine.tm.bip.protocol;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Rings come back, and only some of them are kept. */
class RingPoolTest {
    private static final int BYTES = 1 << 20;

    private long nowNs;
    private boolean hasMemory = true;
    private int asked;
    private final RingPool pool = new RingPool(() -> nowNs, this::memory);

    private MemorySegment memory(int bytes) {
        asked++;
        if (!hasMemory) {
            throw new OutOfMemoryError();
        }
        return Arena.ofAuto().allocate(bytes);
    }

    @Test
    void shouldGiveARingOutAgain() {
        RingMemory ring = pool.take(BYTES);
        assertEquals(BYTES, pool.takenBytes());
        pool.giveBack(ring);
        assertEquals(0, pool.takenBytes());
        assertEquals(BYTES, pool.keptBytes());
        assertSame(ring, pool.take(BYTES));
        assertEquals(0, pool.keptBytes());
    }

    @Test
    void shouldAskForMemoryAgainOnlyAfterAWhileOrOnceARingHasComeBack() {
        RingMemory ring = pool.take(BYTES);
        hasMemory = false;
        assertNoMemory(1);
        hasMemory = true;
        assertNoMemory(0);
        nowNs += RingPool.PAUSE_NS;
        pool.take(BYTES);
        hasMemory = false;
        assertNoMemory(1);
        pool.giveBack(ring);
        hasMemory = true;
        assertEquals(2 * BYTES, pool.take(2 * BYTES).ring().byteSize());
    }

    @Test
    void shouldDropRingsOfOtherSizesBeforeItGivesUp() {
        pool.giveBack(pool.take(BYTES));
        hasMemory = false;
        assertNoMemory(2);
        assertEquals(0, pool.keptBytes());
    }

    /** Fails to take a ring after so many questions for memory. */
    private void assertNoMemory(int expected) {
        asked = 0;
        assertThrows(OutOfMemoryError.class, () -> pool.take(2 * BYTES));
        assertEquals(expected, asked);
    }

    @Test
    void shouldKeepNoMoreThanTheNextConnectionsMayNeed() {
        int count = (int) (2 * RingPool.MOST_KEPT_BYTES / BYTES);
        List<RingMemory> rings = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            rings.add(pool.take(BYTES));
        }
        rings.forEach(pool::giveBack);
        assertEquals(0, pool.takenBytes());
        assertEquals(RingPool.MOST_KEPT_BYTES, pool.keptBytes());
    }
}
