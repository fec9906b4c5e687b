package io.madeleine.tm.bip.protocol;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Rings come back, and only some of them are kept. */
class RingPoolTest {
    private static final int BYTES = 1 << 20;

    private final RingPool pool = new RingPool();

    @Test
    void shouldGiveARingOutAgain() {
        MemorySegment ring = pool.take(BYTES);
        assertEquals(BYTES, pool.takenBytes());
        pool.giveBack(ring);
        assertEquals(0, pool.takenBytes());
        assertEquals(BYTES, pool.keptBytes());
        assertSame(ring, pool.take(BYTES));
        assertEquals(0, pool.keptBytes());
    }

    @Test
    void shouldKeepNoMoreThanTheNextConnectionsMayNeed() {
        int count = (int) (2 * RingPool.MOST_KEPT_BYTES / BYTES);
        List<MemorySegment> rings = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            rings.add(pool.take(BYTES));
        }
        rings.forEach(pool::giveBack);
        assertEquals(0, pool.takenBytes());
        assertEquals(RingPool.MOST_KEPT_BYTES, pool.keptBytes());
    }
}
