package io.madeleine.bmm;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.api.BlockLayout;
import io.madeleine.pmm.spi.AggregationMode;
import io.madeleine.pmm.spi.BufferGroup;
import io.madeleine.pmm.spi.BufferMode;
import io.madeleine.pmm.spi.DynamicLink;
import io.madeleine.pmm.spi.LinkMode;
import io.madeleine.pmm.spi.LinkStatus;
import io.madeleine.pmm.spi.TransmissionCapabilities;
import java.io.ByteArrayOutputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

class DynamicSendBmmTest {
    private static final int BYTES = 100_000;

    private final Narrow link = new Narrow();
    private final SendBmm bmm = SendBmm.forLink(link, new SendLedger(), new Staging(new StagingPool()));

    private static MemorySegment block(int value) {
        return MemorySegment.ofArray(new byte[BYTES]).fill((byte) value);
    }

    private static byte[] bytes(int... values) {
        byte[] all = new byte[values.length * BYTES];
        for (int i = 0; i < values.length; i++) {
            Arrays.fill(all, i * BYTES, (i + 1) * BYTES, (byte) values[i]);
        }
        return all;
    }

    @Test
    void shouldFinishAnAbandonedPacketWithItsExpressBlocksAndWithoutTheUsersMemory() {
        MemorySegment cheaper = block(1);
        MemorySegment safer = block(2);
        MemorySegment express = block(3);
        assertEquals(LinkStatus.COMPLETE, bmm.append(cheaper, 0, BYTES, true, false));
        assertEquals(LinkStatus.COMPLETE, bmm.append(safer, 0, BYTES, false, true));
        assertEquals(LinkStatus.COMPLETE, bmm.append(express, 0, BYTES, true, true));
        link.room = 10;
        assertEquals(LinkStatus.PENDING, bmm.flush());
        assertFalse(bmm.abandon());
        cheaper.fill((byte) 9);
        safer.fill((byte) 9);
        express.fill((byte) 9);
        link.room = Long.MAX_VALUE;
        assertEquals(LinkStatus.COMPLETE, bmm.flush());
        byte[] expected = bytes(0, 2, 3);
        Arrays.fill(expected, 0, 10, (byte) 1); // left before
        assertArrayEquals(expected, link.sent.toByteArray());
    }

    @Test
    void shouldFinishAnAbandonedPacketWithRanges() {
        MemorySegment[] memory = {block(1), block(2), block(3)};
        BlockLayout[] halves = new BlockLayout[3];
        for (int i = 0; i < 3; i++) { // every other ten bytes, twice
            halves[i] = BlockLayout.of(
                    new BlockLayout.Part(memory[i], 0, 10, 20, BYTES / 20),
                    new BlockLayout.Part(memory[i], 0, 10, 20, BYTES / 20));
        }
        assertEquals(LinkStatus.COMPLETE, bmm.append(halves[0], true, false));
        assertEquals(LinkStatus.COMPLETE, bmm.append(halves[1], false, true));
        assertEquals(LinkStatus.COMPLETE, bmm.append(halves[2], true, true));
        link.room = 15;
        assertEquals(LinkStatus.PENDING, bmm.flush());
        assertFalse(bmm.abandon());
        for (MemorySegment spoilt : memory) {
            spoilt.fill((byte) 9);
        }
        link.room = Long.MAX_VALUE;
        assertEquals(LinkStatus.COMPLETE, bmm.flush());
        byte[] expected = bytes(0, 2, 3);
        Arrays.fill(expected, 0, 15, (byte) 1); // left before
        assertArrayEquals(expected, link.sent.toByteArray());
    }

    @Test
    void shouldNotNeedTheMemoryOfSmallRangesAnyMoreOnceTheEndMarkIsOnItsWay() {
        try (Arena arena = Arena.ofShared()) {
            BlockLayout block = BlockLayout.strided(arena.allocate(190).fill((byte) 5), 0, 10, 20, 10);
            assertEquals(LinkStatus.COMPLETE, bmm.append(block, true, false));
            assertEquals(LinkStatus.PENDING, bmm.flushLast());
        }
        assertTrue(bmm.abandon(), "it arrives whole");
        link.room = Long.MAX_VALUE;
        assertEquals(LinkStatus.COMPLETE, bmm.flush());
        byte[] expected = new byte[100];
        Arrays.fill(expected, (byte) 5);
        assertArrayEquals(expected, link.sent.toByteArray());
    }

    @Test
    void shouldFinishAnAbandonedPacketWhoseMemoryIsGone() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment express = arena.allocate(BYTES).fill((byte) 3);
            assertEquals(LinkStatus.COMPLETE, bmm.append(express, 0, BYTES, true, true));
            link.room = 10;
            assertEquals(LinkStatus.PENDING, bmm.flush());
        }
        assertFalse(bmm.abandon());
        link.room = Long.MAX_VALUE;
        assertEquals(LinkStatus.COMPLETE, bmm.flush());
        assertEquals(BYTES, link.sent.size());
    }

    @Test
    void shouldSendNoEndMarkWithASmallBlockWhoseMemoryIsGone() {
        MemorySegment small;
        try (Arena arena = Arena.ofShared()) {
            small = arena.allocate(100);
            assertEquals(LinkStatus.COMPLETE, bmm.append(small, 0, 100, true, false));
        }
        link.room = Long.MAX_VALUE;
        assertThrows(IllegalStateException.class, bmm::flushLast);
        assertFalse(bmm.abandon(), "an abort mark can be sent");
        assertEquals(LinkStatus.COMPLETE, bmm.flush());
        assertEquals(0, link.packetCount);
    }

    @Test
    void shouldNotNeedTheMemoryOfASmallBlockAnyMoreOnceTheEndMarkIsOnItsWay() {
        try (Arena arena = Arena.ofShared()) {
            assertEquals(LinkStatus.COMPLETE, bmm.append(arena.allocate(100).fill((byte) 5), 0, 100, true, false));
            assertEquals(LinkStatus.PENDING, bmm.flushLast());
        }
        assertTrue(bmm.abandon(), "it arrives whole");
        link.room = Long.MAX_VALUE;
        assertEquals(LinkStatus.COMPLETE, bmm.flush());
        byte[] expected = new byte[100];
        Arrays.fill(expected, (byte) 5);
        assertArrayEquals(expected, link.sent.toByteArray());
    }

    /** A link that takes so many bytes, for groups which are received in parts. */
    private static final class Narrow implements DynamicLink {
        private final ByteArrayOutputStream sent = new ByteArrayOutputStream();
        private long room;
        private int packetCount;

        @Override
        public TransmissionCapabilities capabilities() {
            return new TransmissionCapabilities(
                    "test/narrow",
                    BufferMode.DYNAMIC,
                    LinkMode.BUFFER_GROUP,
                    AggregationMode.ASYMMETRIC,
                    Long.MAX_VALUE,
                    0,
                    "a narrow link");
        }

        @Override
        public int send(long header, BufferGroup group, long trailer) {
            packetCount++;
            MemorySegment taken = MemorySegment.ofArray(new byte[(int) Math.min(room, group.remainingBytes())]);
            room -= group.drainTo(taken, 0, taken.byteSize());
            sent.writeBytes(taken.toArray(ValueLayout.JAVA_BYTE));
            return group.isEmpty() ? LinkStatus.COMPLETE : LinkStatus.PENDING;
        }

        @Override
        public long front() {
            return 0;
        }

        @Override
        public long receive(BufferGroup group, long maxBytes) {
            return 0;
        }

        @Override
        public long skip(long maxBytes) {
            return 0;
        }

        @Override
        public void release() {}
    }
}
