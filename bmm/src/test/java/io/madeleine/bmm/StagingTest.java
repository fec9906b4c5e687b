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
    void shouldCopyABlockOfAnySizeIntoOnePiece() {
        for (int bytes : new int[] {
            StagingPool.PIECE_BYTES,
            StagingPool.PIECE_BYTES + 1,
            StagingPool.MAX_KEPT_PIECE_BYTES,
            StagingPool.MAX_KEPT_PIECE_BYTES + 3
        }) {
            Staging connection = new Staging(pool);
            MemorySegment large = MemorySegment.ofArray(new byte[bytes]);
            large.set(ValueLayout.JAVA_BYTE, bytes - 1, (byte) 7);
            connection.copy(BLOCK, 0, 3);
            connection.copy(large, 0, bytes);
            assertEquals(7, connection.segment().get(ValueLayout.JAVA_BYTE, connection.offset() + bytes - 1));
            connection.copy(BLOCK, 0, 3);
            assertEquals(0, connection.offset() & 7);
            connection.reset();
        }
    }

    @Test
    void shouldUseTheSameMemoryForTheLargeBlocksOfEveryMessage() {
        Staging connection = new Staging(pool);
        MemorySegment large = MemorySegment.ofArray(new byte[StagingPool.MAX_KEPT_PIECE_BYTES]);
        connection.copy(large, 0, large.byteSize());
        MemorySegment first = connection.segment();
        connection.reset();
        long held = pool.heldBytes();
        for (int i = 0; i < 10; i++) {
            connection.copy(large, 0, large.byteSize());
            assertSame(first, connection.segment());
            connection.reset();
        }
        assertEquals(held, pool.heldBytes());
    }

    @Test
    void shouldUseTheSameMemoryForTheManyBlocksOfEveryMessage() {
        Staging connection = new Staging(pool);
        long held = 0;
        for (int message = 0; message < 10; message++) {
            for (int i = 0; i < 10 * StagingPool.PIECE_BYTES / 100; i++) {
                connection.copy(BLOCK, 0, 100);
            }
            connection.reset();
            assertTrue(message == 0 || held == pool.heldBytes());
            held = pool.heldBytes();
        }
        assertTrue(held <= 12L * StagingPool.PIECE_BYTES, () -> pool.heldBytes() + " bytes");
    }

    @Test
    void shouldNotKeepWhatOneMessageOfAnUnusualSizeTook() {
        long held = pool.heldBytes();
        Staging connection = new Staging(pool);
        MemorySegment huge = MemorySegment.ofArray(new byte[StagingPool.MAX_KEPT_PIECE_BYTES + 1]);
        connection.copy(huge, 0, huge.byteSize());
        assertTrue(pool.heldBytes() > held);
        connection.reset();
        assertEquals(held, pool.heldBytes());
    }
}
