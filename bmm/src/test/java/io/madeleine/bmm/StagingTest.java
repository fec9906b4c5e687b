package io.madeleine.bmm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class StagingTest {
    private static final MemorySegment BLOCK = MemorySegment.ofArray(new byte[100]);

    private final StagingPool pool = new StagingPool();

    @Test
    void shouldHoldNoMemoryForConnectionsThatHaveSentNothing() {
        long before = pool.heldBytes();
        List<Staging> connections =
                Stream.generate(() -> new Staging(pool)).limit(1000).toList();
        assertEquals(before, pool.heldBytes());
        assertEquals(1000, connections.size());
    }

    @Test
    void shouldHoldMemoryForMessagesUnderWayAndNotForThoseThatHaveEnded() {
        List<Staging> connections =
                Stream.generate(() -> new Staging(pool)).limit(1000).toList();
        for (Staging connection : connections) {
            connection.copy(BLOCK, 0, BLOCK.byteSize());
        }
        assertEquals(1000L * StagingPool.PIECE_BYTES, pool.heldBytes());
        connections.forEach(Staging::reset);
        assertEquals((long) StagingPool.MAX_KEPT * StagingPool.PIECE_BYTES, pool.heldBytes());
    }

    @Test
    void shouldUseOnePieceForMessageAfterMessageOfAnyConnection() {
        long before = pool.heldBytes();
        for (int i = 0; i < 1000; i++) {
            Staging connection = new Staging(pool);
            connection.copy(BLOCK, 0, BLOCK.byteSize());
            connection.reset();
        }
        assertEquals(before, pool.heldBytes());
    }

    @Test
    void shouldNotShareAPieceBetweenTwoMessages() {
        Staging one = new Staging(pool);
        Staging other = new Staging(pool);
        one.copy(BLOCK, 0, 8);
        other.copy(BLOCK, 0, 8);
        assertNotSame(one.segment(), other.segment());
        MemorySegment first = one.segment();
        one.copy(BLOCK, 0, 8);
        assertSame(first, one.segment());
        assertEquals(8, one.offset());
    }

    @Test
    void shouldCopyWhatIsLargerThanAPieceElsewhere() {
        Staging connection = new Staging(pool);
        MemorySegment large = MemorySegment.ofArray(new byte[StagingPool.PIECE_BYTES + 1]);
        large.set(ValueLayout.JAVA_BYTE, StagingPool.PIECE_BYTES, (byte) 7);
        connection.copy(large, 0, large.byteSize());
        assertTrue(connection.segment().byteSize() >= large.byteSize());
        assertEquals(7, connection.segment().get(ValueLayout.JAVA_BYTE, StagingPool.PIECE_BYTES));
        long held = pool.heldBytes();
        connection.reset();
        assertEquals(held, pool.heldBytes());
    }
}
