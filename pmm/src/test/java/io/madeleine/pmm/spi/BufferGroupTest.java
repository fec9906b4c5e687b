package io.madeleine.pmm.spi;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Random;
import org.junit.jupiter.api.Test;

class BufferGroupTest {
    private static MemorySegment numbered(int bytes, int from) {
        MemorySegment block = MemorySegment.ofArray(new byte[bytes]);
        for (int i = 0; i < bytes; i++) {
            block.set(ValueLayout.JAVA_BYTE, i, (byte) (from + i));
        }
        return block;
    }

    @Test
    void shouldCountBytesAndBlocks() {
        BufferGroup group = new BufferGroup();
        assertTrue(group.isEmpty());
        group.add(numbered(10, 0), 2, 5);
        group.add(numbered(10, 0), 0, 0);
        group.add(numbered(10, 0), 1, 3);
        assertEquals(8, group.remainingBytes());
        assertEquals(2, group.count());
        group.advance(4);
        assertEquals(6, group.offset(0));
        assertEquals(1, group.bytes(0));
        group.advance(1);
        assertEquals(1, group.count());
        assertEquals(1, group.offset(0));
        group.advance(3);
        assertTrue(group.isEmpty());
        assertEquals(0, group.count());
    }

    @Test
    void shouldMoveAnyPartsThroughAnyNumberOfBlocks() {
        Random random = new Random(3);
        for (int trial = 0; trial < 200; trial++) {
            BufferGroup from = new BufferGroup();
            BufferGroup to = new BufferGroup();
            int bytes = random.nextInt(3000);
            MemorySegment source = numbered(bytes, trial);
            MemorySegment target = MemorySegment.ofArray(new byte[bytes]);
            MemorySegment between = MemorySegment.ofArray(new byte[64]);
            int added = 0;
            int wanted = 0;
            while (to.remainingBytes() > 0 || added < bytes || wanted < bytes) {
                if (added < bytes) {
                    int now = Math.min(bytes - added, random.nextInt(100));
                    from.add(source, added, now);
                    added += now;
                }
                if (wanted < bytes) {
                    int now = Math.min(bytes - wanted, random.nextInt(100));
                    to.add(target, wanted, now);
                    wanted += now;
                }
                long moved = from.drainTo(between, 0, Math.min(random.nextInt(65), to.remainingBytes()));
                assertEquals(moved, to.fillFrom(between, 0, moved));
            }
            assertTrue(from.isEmpty() && to.isEmpty());
            assertEquals(-1, source.mismatch(target));
        }
    }

    @Test
    void shouldSayHowFarItCameWhenMemoryIsGone() {
        MemorySegment gone;
        try (Arena arena = Arena.ofShared()) {
            gone = arena.allocate(100);
        }
        BufferGroup group = new BufferGroup();
        group.add(numbered(30, 0), 0, 30);
        group.add(gone, 0, 100);
        MemorySegment target = MemorySegment.ofArray(new byte[200]);
        assertThrows(IllegalStateException.class, () -> group.drainTo(target, 0, 200));
        assertEquals(100, group.remainingBytes());
        group.replaceMemory(MemorySegment.ofArray(new byte[7]));
        assertEquals(100, group.remainingBytes());
        assertEquals(100, group.drainTo(target, 0, 200));
        assertTrue(group.isEmpty());
    }

    @Test
    void shouldLetABlockBeReadFromElsewhere() {
        BufferGroup group = new BufferGroup();
        group.add(numbered(4, 0), 0, 4);
        group.add(numbered(4, 0), 0, 4);
        group.advance(2);
        group.replace(0, numbered(10, 50), 3);
        group.replace(1, numbered(10, 90), 0);
        byte[] target = new byte[6];
        assertEquals(6, group.drainTo(MemorySegment.ofArray(target), 0, 6));
        assertEquals(53, target[0]);
        assertEquals(54, target[1]);
        assertEquals(90, target[2]);
        group.add(numbered(4, 0), 0, 4);
        group.clear();
        assertTrue(group.isEmpty());
    }
}
