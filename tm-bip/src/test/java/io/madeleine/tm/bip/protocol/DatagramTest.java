package io.madeleine.tm.bip.protocol;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** A datagram whose last bytes lie in the ring of a stream is the same as one that was copied. */
class DatagramTest {
    private static final int CAPACITY = 4_096;
    private static final int HEAD_BYTES = 60;

    private final Random random = new Random(7);
    private final RingPool pool = new RingPool(() -> 0);
    private final Ring ring = new Ring(pool, CAPACITY);
    private final byte[] content = new byte[CAPACITY];
    private final Datagram datagram = new Datagram(Arena.ofAuto());

    DatagramTest() {
        random.nextBytes(content);
        ring.write(0, MemorySegment.ofArray(content), 0, CAPACITY);
    }

    private void begin(int headBytes) {
        datagram.begin(DatagramLayout.DATA, 7, 8, 0);
        while (datagram.bytes().position() < headBytes) {
            datagram.bytes().put((byte) 0x55);
        }
    }

    private byte[] copied(int index, int bytes) {
        begin(HEAD_BYTES);
        datagram.bytes().put(content, index, bytes);
        datagram.seal();
        byte[] all = new byte[datagram.length()];
        datagram.bytes().get(0, all);
        return all;
    }

    private int lent(int index, int bytes) {
        begin(HEAD_BYTES);
        assertTrue(ring.lend(index, bytes, datagram));
        return datagram.seal();
    }

    private byte[] inRing() {
        return ring.memory().toArray(ValueLayout.JAVA_BYTE);
    }

    @Test
    void shouldLeaveWithItsEndInTheRingAsIfItHadBeenCopied() {
        for (int index : new int[] {0, 1, HEAD_BYTES - 1, HEAD_BYTES, 1_000, CAPACITY - 700}) {
            byte[] expected = copied(index, 700);
            assertEquals(expected.length, lent(index, 700));
            byte[] left = new byte[datagram.length()];
            datagram.toSend().duplicate().get(left);
            datagram.restoreRing();
            assertArrayEquals(expected, left, "at " + index);
            assertArrayEquals(content, inRing(), "the ring at " + index);
        }
    }

    @Test
    void shouldKeepWhatItCopiedWhenTheRingChanges() {
        byte[] expected = copied(500, 700);
        lent(500, 700);
        datagram.join();
        ring.memory().fill((byte) 0);
        byte[] left = new byte[datagram.length()];
        datagram.toSend().duplicate().get(left);
        datagram.restoreRing();
        assertArrayEquals(expected, left);
        assertArrayEquals(new byte[CAPACITY], inRing(), "nothing was put before bytes of a ring that is another's");
    }

    @Test
    void shouldBeInOnePieceForWhoeverLooksAtIt() {
        byte[] expected = copied(500, 700);
        lent(500, 700);
        byte[] seen = new byte[datagram.length()];
        MemorySegment.copy(datagram.memory(), ValueLayout.JAVA_BYTE, 0, seen, 0, seen.length);
        assertArrayEquals(expected, seen);
        assertTrue(datagram.isIntact());
    }

    @Test
    void shouldNotEndInARingWhereTheBytesAreInTwoPiecesOrTheHeadHasNoRoom() {
        begin(HEAD_BYTES);
        assertFalse(ring.lend(CAPACITY - 699, 700, datagram));
        begin(RingMemory.HEADROOM_BYTES + 1);
        assertFalse(ring.lend(0, 700, datagram));
        begin(RingMemory.HEADROOM_BYTES);
        assertTrue(ring.lend(0, 700, datagram));
    }
}
