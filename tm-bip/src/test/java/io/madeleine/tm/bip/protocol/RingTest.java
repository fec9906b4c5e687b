package io.madeleine.tm.bip.protocol;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.madeleine.pmm.spi.Blocks;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.Test;

/** Bytes and numbers at each place of a window, also across its end. */
class RingTest {
    private static final int CAPACITY = 128;
    private static final long NUMBER = 0x8899AABBCCDDEEFFL;

    private final Ring ring = new Ring(new RingPool(() -> 0), CAPACITY);
    private final MemorySegment bytes = Arena.ofAuto().allocate(CAPACITY);

    @Test
    void shouldReadTheBytesOfANumberWhereverItWasWritten() {
        for (long offset = 0; offset < 3 * CAPACITY; offset++) {
            ring.writeLong(offset, NUMBER + offset);
            ring.read(offset, bytes, 0, Long.BYTES);
            assertEquals(NUMBER + offset, bytes.get(Blocks.LONG, 0), "at " + offset);
        }
    }

    @Test
    void shouldReadANumberWhereverItsBytesWereWritten() {
        for (long offset = 0; offset < 3 * CAPACITY; offset++) {
            bytes.set(Blocks.LONG, 0, NUMBER - offset);
            ring.write(offset, bytes, 0, Long.BYTES);
            assertEquals(NUMBER - offset, ring.readLong(offset), "at " + offset);
        }
    }

    @Test
    void shouldKeepPiecesOfAllSizesAtAllPlaces() {
        MemorySegment read = Arena.ofAuto().allocate(CAPACITY);
        for (int i = 0; i < CAPACITY; i++) {
            bytes.set(Blocks.BYTE, i, (byte) (i + 1));
        }
        for (long offset = 0; offset < CAPACITY; offset++) {
            for (int length = 0; length <= CAPACITY; length++) {
                ring.write(offset, bytes, CAPACITY - length, length);
                read.fill((byte) 0);
                ring.read(offset, read, 0, length);
                assertEquals(-1, read.asSlice(0, length).mismatch(bytes.asSlice(CAPACITY - length)), "at " + offset);
            }
        }
    }
}
