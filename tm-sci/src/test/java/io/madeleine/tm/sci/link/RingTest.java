package io.madeleine.tm.sci.link;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.pmm.spi.BufferGroup;
import io.madeleine.pmm.spi.LinkStatus;
import io.madeleine.pmm.spi.PacketHeader;
import io.madeleine.tm.sci.Side;
import io.madeleine.tm.sci.memory.OrderedWords;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RingTest {
    private static final int BUFFER = 200;
    private static final int RING = 1024;

    private final RingLayout layout = RingLayout.at(0, RING, BUFFER);
    private final MemorySegment memory = Arena.ofAuto().allocate(layout.totalBytes(), OrderedWords.LINE_BYTES);
    private final RingProducer producer = new RingProducer(memory, layout);
    private final RingConsumer consumer = new RingConsumer(memory, layout);
    private final MemorySegment target = MemorySegment.ofArray(new byte[BUFFER]);

    private boolean offer(int bytes, int sequence) {
        long offset = producer.claim();
        if (offset == LinkStatus.PENDING) {
            return false;
        }
        for (int i = 0; i < bytes; i++) {
            memory.set(ValueLayout.JAVA_BYTE, offset + i, (byte) (sequence + i));
        }
        producer.commit(PacketHeader.of(bytes, sequence, 0, 0));
        return true;
    }

    private void takeAndCheck(int bytes, int sequence) {
        assertTrue(consumer.isReadable());
        assertEquals(PacketHeader.of(bytes, sequence, 0, 0), consumer.front());
        assertEquals(bytes, consumer.receive(Side.group(target.asSlice(0, bytes)), BUFFER));
        for (int i = 0; i < bytes; i++) {
            assertEquals((byte) (sequence + i), target.get(ValueLayout.JAVA_BYTE, i));
        }
        consumer.release(false);
    }

    /** Every byte of a claim may be written, also of one that is given up or filled in part. */
    private void scribble() {
        long offset = producer.claim();
        if (offset >= 0) {
            memory.asSlice(offset, BUFFER).fill((byte) 0xFF);
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
    void shouldKeepOrderAndContentWhenTheRingWraps(long seed) {
        Random random = new Random(seed);
        int[] sizes = new int[4096];
        int sent = 0;
        int received = 0;
        int refused = 0;
        while (received < 20_000) {
            scribble();
            int bytes = random.nextInt(BUFFER + 1);
            if (random.nextInt(100) < 55 && offer(bytes, sent & 0xFFF)) {
                sizes[sent++ & 0xFFF] = bytes;
            } else if (sent > received) {
                takeAndCheck(sizes[received & 0xFFF], received & 0xFFF);
                received++;
            } else {
                assertEquals(0, consumer.front());
                assertFalse(consumer.isReadable());
            }
            refused += producer.claim() < 0 ? 1 : 0;
        }
        assertTrue(refused > 0, "the ring was never full");
    }

    @Test
    void shouldRefuseAClaimWhenFullAndHaveRoomAfterARelease() {
        int count = 0;
        while (offer(BUFFER, count)) {
            count++;
        }
        assertTrue(count >= RingLayout.BUFFERS_PER_RING - 1, "only " + count);
        assertFalse(producer.hasRoom());
        takeAndCheck(BUFFER, 0);
        assertTrue(producer.hasRoom());
        assertTrue(offer(BUFFER, count));
    }

    @Test
    void shouldAlwaysGetRoomBackThoughSpaceIsReturnedInBatches() {
        for (int lap = 0; lap < 1000; lap++) {
            int count = 0;
            while (offer(8, count)) {
                count++;
            }
            for (int i = 0; i < count; i++) {
                takeAndCheck(8, i);
            }
            assertTrue(producer.hasRoom(), "lap " + lap);
        }
    }

    @Test
    void shouldReturnSpaceSeldomly() {
        int returns = 0;
        for (int i = 0; i < 640; i++) {
            assertTrue(offer(8, i));
            assertEquals(PacketHeader.of(8, i, 0, 0), consumer.front());
            consumer.skip(8);
            returns += consumer.release(false) ? 1 : 0;
        }
        assertEquals(640 * 16 / (RING / 8), returns);
    }

    @Test
    void shouldGivePayloadInPartsAndSkip() {
        offer(100, 5);
        consumer.front();
        MemorySegment first = MemorySegment.ofArray(new byte[10]);
        MemorySegment second = MemorySegment.ofArray(new byte[20]);
        BufferGroup group = Side.group(first, second);
        assertEquals(7, consumer.receive(group, 7));
        assertEquals(23, consumer.receive(group, 50));
        assertEquals(5 + 29, second.get(ValueLayout.JAVA_BYTE, 19));
        assertEquals(30, consumer.skip(30));
        assertEquals(40, consumer.skip(400));
        consumer.release(false);
        assertEquals(0, consumer.front());
    }

    @Test
    void shouldSayHowFarItCameWhenTheMemoryWasFreed() {
        offer(100, 5);
        consumer.front();
        Arena arena = Arena.ofConfined();
        MemorySegment freed = arena.allocate(50);
        BufferGroup group = Side.group(MemorySegment.ofArray(new byte[50]), freed);
        arena.close();
        assertThrows(IllegalStateException.class, () -> consumer.receive(group, 100));
        assertEquals(50, group.remainingBytes());
        assertEquals(50, consumer.receive(Side.group(target.asSlice(0, 100)), 100));
        assertEquals(5 + 50, target.get(ValueLayout.JAVA_BYTE, 0));
    }

    @ParameterizedTest
    @ValueSource(longs = {1, -1, 0x01000000_00000000L | BUFFER + 1, 0x40000000_00000000L})
    void shouldRecogniseWhatIsNoHeader(long header) {
        producer.claim();
        producer.commit(header & ~0xFFFF_FFFFL); // of any length: only the word in front matters
        OrderedWords.setRelease(memory, layout.headerOffset(0), header);
        assertEquals(RingConsumer.BROKEN, consumer.front());
        assertEquals(header, consumer.rawFront());
    }
}
