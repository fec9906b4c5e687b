package io.madeleine.api;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.api.BlockLayout.Part;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.Test;

class BlockLayoutTest {
    private final MemorySegment memory = MemorySegment.ofArray(new byte[100]);

    @Test
    void shouldCountBytesAndRanges() {
        BlockLayout layout = BlockLayout.of(
                new Part(memory, 90, 10),
                new Part(memory, 0, 0),
                new Part(memory, 0, 4, 20, 5),
                new Part(memory, 4, 3));
        assertEquals(10 + 20 + 3, layout.byteSize());
        assertEquals(7, layout.rangeCount());
        assertEquals(10, layout.longestRangeBytes());
        assertEquals(3, layout.partCount());
        assertEquals(0, layout.partAt(9));
        assertEquals(1, layout.partAt(10));
        assertEquals(1, layout.partAt(29));
        assertEquals(2, layout.partAt(30));
        assertThrows(IndexOutOfBoundsException.class, () -> layout.partAt(33));
    }

    @Test
    void shouldJoinRangesThatFollowEachOther() {
        BlockLayout layout = BlockLayout.of(
                new Part(memory, 0, 10),
                new Part(memory, 10, 5, 5, 4),
                new Part(memory, 50, 0, 7, 3),
                new Part(memory, 30, 1));
        assertEquals(1, layout.rangeCount());
        assertEquals(BlockLayout.of(memory, 0, 31), layout);
        assertNotEquals(BlockLayout.of(memory, 0, 30), layout);
    }

    @Test
    void shouldHaveNoRangesWithoutBytes() {
        assertEquals(0, BlockLayout.of().byteSize());
        assertEquals(0, BlockLayout.of(memory, 100, 0).rangeCount());
        assertEquals(0, BlockLayout.strided(memory, 0, 1000, 2000, 0).byteSize());
        assertEquals(0, BlockLayout.of().longestRangeBytes());
    }

    @Test
    void shouldSayWhichRangeLiesOutside() {
        assertSays("range 0 of 1", "10 bytes at offset 91", "segment of 100 bytes", 91, 10, 10, 1);
        assertSays("range 0 of 1", "10 bytes at offset -1", "segment of 100 bytes", -1, 10, 10, 1);
        assertSays("range 4 of 5", "10 bytes at offset 100", "segment of 100 bytes", 0, 10, 25, 5);
        assertSays("range 2 of 3", "10 bytes at offset -10", "segment of 100 bytes", 30, 10, -20, 3);
        assertSays("3 ranges", "a stride of 9223372036854775807 bytes", "overflow", 0, 10, Long.MAX_VALUE, 3);
    }

    private void assertSays(String which, String what, String where, long offset, long bytes, long stride, int count) {
        String message = assertThrows(
                        IndexOutOfBoundsException.class,
                        () -> BlockLayout.strided(memory, offset, bytes, stride, count))
                .getMessage();
        for (String text : new String[] {which, what, where}) {
            assertTrue(message.contains(text), message);
        }
    }

    @Test
    void shouldRefuseNegativeSizesAndTooManyRanges() {
        assertThrows(IllegalArgumentException.class, () -> new Part(memory, 0, -1));
        assertThrows(IllegalArgumentException.class, () -> new Part(memory, 0, 1, 1, -1));
        Part many = new Part(memory, 0, 1, 0, Integer.MAX_VALUE);
        assertThrows(IllegalArgumentException.class, () -> BlockLayout.of(many, many));
    }

    @Test
    void shouldKnowWhoMayTouchItAndHow() {
        Thread other = new Thread(() -> {});
        try (Arena confined = Arena.ofConfined()) {
            BlockLayout layout = BlockLayout.of(new Part(memory, 0, 1), new Part(confined.allocate(1), 0, 1));
            assertTrue(layout.isAccessibleBy(Thread.currentThread()));
            assertFalse(layout.isAccessibleBy(other));
        }
        assertTrue(BlockLayout.of(memory, 0, 1).isAccessibleBy(other));
        assertFalse(BlockLayout.of(memory, 0, 1).isReadOnly());
        assertTrue(BlockLayout.of(new Part(memory, 0, 1), new Part(memory.asReadOnly(), 0, 1))
                .isReadOnly());
        assertTrue(BlockLayout.strided(memory, 0, 3, 2, 2).isOverlapping());
        assertTrue(BlockLayout.strided(memory, 10, 3, -2, 2).isOverlapping());
        assertFalse(BlockLayout.strided(memory, 10, 3, -3, 2).isOverlapping());
    }
}
