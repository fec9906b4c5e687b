package io.madeleine.mpi.device;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import org.junit.jupiter.api.Test;

class ScratchTest {
    private int taken;

    private final Scratch scratch = new Scratch(bytes -> {
        taken++;
        return ByteBuffer.allocateDirect(bytes);
    });

    @Test
    void shouldUseABlockAgainThatWasGivenBack() {
        Scratch.Block first = scratch.take(100_000);
        Scratch.Block second = scratch.take(100_000);
        assertNotSame(first, second);
        assertTrue(first.segment().byteSize() >= 100_000);
        scratch.give(first);
        assertSame(first, scratch.take(90_000));
        scratch.give(second);
        assertSame(second, scratch.take(40_000));
        assertEquals(2, taken);
    }

    @Test
    void shouldKeepLongBlocksForLongOnesAndTakeTheShortestThatWillDo() {
        Scratch.Block tall = scratch.take(1 << 20);
        Scratch.Block small = scratch.take(16 << 10);
        scratch.give(tall);
        scratch.give(small);
        assertSame(small, scratch.take(10 << 10));
        assertNotSame(tall, scratch.take(10 << 10));
        assertSame(tall, scratch.take(1 << 20));
    }

    @Test
    void shouldKeepNoMoreThanItsBound() {
        Scratch.Block[] blocks = new Scratch.Block[3];
        for (int i = 0; i < blocks.length; i++) {
            blocks[i] = scratch.take(32 << 20);
        }
        for (Scratch.Block block : blocks) {
            scratch.give(block);
        }
        for (int i = 0; i < blocks.length; i++) {
            Scratch.Block _ = scratch.take(32 << 20);
        }
        assertEquals(4, taken);
    }

    @Test
    void shouldHaveOrdinaryMemoryWhereThereIsNoOther() {
        Scratch.Block block = new Scratch(_ -> null).take(5000);
        assertTrue(block.segment().byteSize() >= 5000 && block.segment().isNative());
    }
}
