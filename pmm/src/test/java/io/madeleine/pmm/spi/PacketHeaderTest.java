package io.madeleine.pmm.spi;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Random;
import org.junit.jupiter.api.Test;

class PacketHeaderTest {
    @Test
    void shouldKeepWhatItIsGiven() {
        for (int bytes : new int[] {0, 1, 112, 1 << 20, PacketHeader.MAX_PAYLOAD_BYTES}) {
            for (int count : new int[] {0, 1, 4095, 4096, 100_000, Integer.MAX_VALUE, Integer.MIN_VALUE}) {
                long header = PacketHeader.of(bytes, count, count + 1, PacketHeader.LAST);
                assertTrue(header > 0);
                assertTrue(PacketHeader.isValid(header));
                assertEquals(bytes, PacketHeader.payloadBytes(header));
                assertTrue(PacketHeader.isCount(PacketHeader.sequence(header), count));
                assertTrue(PacketHeader.isCount(PacketHeader.index(header), count + 1));
                assertFalse(PacketHeader.isCount(PacketHeader.index(header), count));
                assertTrue(PacketHeader.has(header, PacketHeader.LAST));
                assertFalse(PacketHeader.has(header, PacketHeader.FIRST | PacketHeader.ABORT));
            }
        }
    }

    @Test
    void shouldTurnAnEndMarkIntoAnAbortMark() {
        long aborted = PacketHeader.aborted(PacketHeader.of(0, 7, 9, PacketHeader.LAST));
        assertEquals(PacketHeader.of(0, 7, 9, PacketHeader.LAST | PacketHeader.ABORT), aborted);
        assertTrue(PacketHeader.describe(aborted).contains("abort"));
    }

    @Test
    void shouldSayHowFarACounterIsBeyondACount() {
        assertEquals(0, PacketHeader.countsBetween(4096, 0));
        assertEquals(5, PacketHeader.countsBetween(8190, 3));
        assertEquals(4095, PacketHeader.countsBetween(-7, PacketHeader.index(PacketHeader.of(0, 0, -8, 0))));
    }

    @Test
    void shouldRefuseWhatCannotBeAHeader() {
        assertFalse(PacketHeader.isValid(0));
        assertFalse(PacketHeader.isValid(-1));
        assertFalse(PacketHeader.isValid(PacketHeader.of(PacketHeader.MAX_PAYLOAD_BYTES + 1, 0, 0, 0)));
        assertFalse(PacketHeader.isValid(PacketHeader.of(1, 0, 0, PacketHeader.ABORT)));
        assertFalse(PacketHeader.isValid(PacketHeader.of(0, 0, 0, 16)));
        assertFalse(PacketHeader.isValid(LinkStatus.CLOSED));
        Random random = new Random(4);
        for (int i = 0; i < 100_000; i++) {
            long header = random.nextLong();
            if (PacketHeader.isValid(header)) {
                assertTrue(header > 0);
                assertTrue(PacketHeader.payloadBytes(header) >= 0);
                assertTrue(PacketHeader.payloadBytes(header) <= PacketHeader.MAX_PAYLOAD_BYTES);
            }
        }
    }
}
