package io.madeleine.tm.tcp.stream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import org.junit.jupiter.api.Test;

class SegmentViewsTest {
    private final SegmentViews views = new SegmentViews();
    private final MemorySegment memory = Arena.ofAuto().allocate(1024);

    @Test
    void shouldTellSegmentsApartThatBeginAtTheSamePlace() {
        ByteBuffer small = views.view(memory.asSlice(0, 16), 0, 16);
        ByteBuffer large = views.view(memory, 100, 900);
        assertEquals(16, small.capacity());
        assertEquals(900, large.remaining());
        assertEquals(100, large.position());
    }

    @Test
    void shouldKeepAViewForTheNextTime() {
        ByteBuffer first = views.view(memory, 0, 10);
        assertSame(first, views.view(memory, 10, 10));
        assertSame(first, views.view(memory.asSlice(0, 1024), 10, 10), "the same memory, if not the same object");
        assertNotSame(first, views.view(memory.asReadOnly(), 10, 10));
    }

    @Test
    void shouldNotTakeFreedMemoryForWhatWasAllocatedInItsPlace() {
        boolean placeWasUsedAgain = false;
        long last = 0;
        for (int i = 0; i < 1000; i++) {
            try (Arena arena = Arena.ofConfined()) {
                MemorySegment segment = arena.allocate(100);
                placeWasUsedAgain |= segment.address() == last;
                last = segment.address();
                assertEquals((byte) 0, views.view(segment, 0, 100).get());
            }
        }
        assertTrue(placeWasUsedAgain, "the allocator gave no place out twice: nothing was tested");
    }
}
