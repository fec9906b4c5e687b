package io.madeleine.pmm.spi;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Random;
import org.junit.jupiter.api.Test;

class BlocksTest {
    @Test
    void shouldCopyExactlyTheBytesAskedForWhateverTheLengthAndPlace() {
        byte[] random = new byte[256];
        new Random(1).nextBytes(random);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment[] sources = {
                MemorySegment.ofArray(random), arena.allocate(256).copyFrom(MemorySegment.ofArray(random))
            };
            for (MemorySegment source : sources) {
                for (int bytes = 0; bytes <= 130; bytes++) {
                    for (int at = 0; at < 9; at++) {
                        MemorySegment heap = MemorySegment.ofArray(new byte[256]);
                        MemorySegment expected = MemorySegment.ofArray(new byte[256]);
                        MemorySegment.copy(source, at, expected, 2 * at, bytes);
                        Blocks.copy(source, at, heap, 2 * at, bytes);
                        assertEquals(-1, expected.mismatch(heap));
                        MemorySegment off = arena.allocate(256);
                        Blocks.copy(source, at, off, 2 * at, bytes);
                        assertEquals(-1, expected.mismatch(off));
                    }
                }
            }
        }
    }
}
