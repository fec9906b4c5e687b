package io.madeleine.pmm.spi;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.api.BlockLayout;
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

    /** Three ranges of 4 bytes, 10 apart, then one of 5: with the numbers 0 to 3, 10 to 13, 20 to 23 and 30 to 34. */
    private static BlockLayout layout() {
        MemorySegment memory = numbered(35, 0);
        return BlockLayout.of(new BlockLayout.Part(memory, 0, 4, 10, 3), new BlockLayout.Part(memory, 30, 5));
    }

    @Test
    void shouldShowOneRangeOfALayoutAfterTheOther() {
        BufferGroup group = new BufferGroup();
        group.add(numbered(10, 0), 7, 2);
        group.add(layout(), 2, 14); // 2 3, 10 to 13, 20 to 23, 30 to 33
        group.add(numbered(10, 0), 1, 1);
        assertEquals(17, group.remainingBytes());
        assertEquals(3, group.count());
        assertEquals(2, group.offset(1));
        assertEquals(2, group.bytes(1));
        assertEquals(14, group.blockBytes(1));
        assertEquals(1, group.offset(2));
        long[] offsetsAndBytes = {7, 2, 2, 2, 10, 1, 11, 3, 20, 4, 30, 4, 1, 1};
        for (int i = 0; i < offsetsAndBytes.length; i += 2) {
            assertEquals(offsetsAndBytes[i], group.offset(0));
            long bytes = offsetsAndBytes[i + 1];
            assertEquals(offsetsAndBytes[i] == 10 ? 4 : bytes, group.bytes(0));
            assertEquals((byte) group.offset(0), group.segment(0).get(ValueLayout.JAVA_BYTE, group.offset(0)));
            group.advance(bytes);
        }
        assertTrue(group.isEmpty());
        assertEquals(0, group.count());
    }

    @Test
    void shouldTakeAPartOfABlockOfAnotherGroup() {
        BufferGroup group = new BufferGroup();
        group.add(numbered(10, 0), 0, 10);
        group.add(layout(), 0, 17);
        BufferGroup part = new BufferGroup();
        part.addBlockOf(group, 0, 8, 2);
        part.addBlockOf(group, 1, 3, 2);
        byte[] target = new byte[4];
        assertEquals(4, part.drainTo(MemorySegment.ofArray(target), 0, 9));
        assertArrayEquals(new byte[] {8, 9, 3, 10}, target);
        assertEquals(27, group.remainingBytes());
    }

    @Test
    void shouldMoveLayoutsInAnyPartsAmongOtherBlocks() {
        Random random = new Random(7);
        for (int trial = 0; trial < 200; trial++) {
            BufferGroup from = new BufferGroup();
            BufferGroup to = new BufferGroup();
            int count = 1 + random.nextInt(30);
            MemorySegment source = numbered(count * 17, trial);
            MemorySegment target = MemorySegment.ofArray(new byte[count * 29]);
            for (int i = 0; i < count; i++) { // one by one there, all together here, but for one place
                from.add(source, i * 17L, 11);
            }
            int split = random.nextInt(count);
            BlockLayout layout = BlockLayout.strided(target, 0, 11, 29, count);
            to.add(layout, 0, split * 11L + 3);
            to.add(layout, split * 11L + 3, (count - split) * 11L - 3);
            MemorySegment between = MemorySegment.ofArray(new byte[64]);
            while (!from.isEmpty()) {
                long moved = from.drainTo(between, 0, random.nextInt(65));
                assertEquals(moved, to.fillFrom(between, 0, moved));
            }
            assertTrue(to.isEmpty());
            for (int i = 0; i < count; i++) {
                assertEquals(-1, target.asSlice(i * 29L, 11).mismatch(source.asSlice(i * 17L, 11)));
            }
        }
    }

    @Test
    void shouldNotAdvanceOverALayoutWhoseMemoryIsGone() {
        MemorySegment gone;
        try (Arena arena = Arena.ofShared()) {
            gone = arena.allocate(100);
        }
        BufferGroup group = new BufferGroup();
        group.add(
                BlockLayout.of(
                        new BlockLayout.Part(numbered(30, 0), 0, 10, 20, 2), new BlockLayout.Part(gone, 0, 10, 20, 4)),
                0,
                60);
        MemorySegment target = MemorySegment.ofArray(new byte[200]);
        assertEquals(5, group.drainTo(target, 0, 5));
        assertThrows(IllegalStateException.class, () -> group.drainTo(target, 0, 200));
        assertEquals(55, group.remainingBytes());
        assertEquals(5, group.offset(0));
        group.replaceMemory(MemorySegment.ofArray(new byte[7]));
        assertEquals(55, group.drainTo(target, 0, 200));
    }

    @Test
    void shouldTakeOnePlaceForAnyNumberOfRangesAndNoMemoryToMoveThem() {
        MemorySegment memory = Arena.ofAuto().allocate(16 << 20);
        BlockLayout column = BlockLayout.strided(memory, 0, 8, 16, 1 << 20);
        BufferGroup group = new BufferGroup();
        MemorySegment target = MemorySegment.ofArray(new byte[8192]);
        for (int i = 0; i < 20; i++) {
            group.add(column, 0, column.byteSize());
            assertEquals(1 + i, group.count());
        }
        group.advance(5 * column.byteSize() + 24);
        assertEquals(48, group.offset(0));
        assertEquals(8192, group.drainTo(target, 0, 8192));
        assertEquals(8192, group.bytesInShortRanges(9) - 8 * ((1 << 20) - 3 - 2048));
        assertEquals(0, group.bytesInShortRanges(8));
    }
}
