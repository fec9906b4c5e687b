package io.madeleine.tm.sci.link;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.pmm.spi.BufferGroup;
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

class CellsTest {
    private static final int CELL = 16 * 1024;
    private static final int CELLS = 3;

    private final CellLayout layout = new CellLayout(0, OrderedWords.PAGE_BYTES, CELL, CELLS);
    private final MemorySegment memory = fresh();
    private final CellProducer producer = new CellProducer(memory, layout);
    private final CellConsumer consumer = new CellConsumer(memory, layout);

    private MemorySegment fresh() {
        return Arena.ofAuto().allocate(layout.dataOffset() + layout.dataBytes(), OrderedWords.PAGE_BYTES);
    }

    /** Sends what there are cells for; whether that was all. */
    private boolean send(long header, BufferGroup group, long trailer) {
        producer.open(group.remainingBytes());
        do {
            if (!producer.send(header, group, trailer)) {
                return false;
            }
        } while (producer.isUnderWay());
        return true;
    }

    private static MemorySegment random(Random random, int bytes) {
        byte[] content = new byte[bytes];
        random.nextBytes(content);
        return MemorySegment.ofArray(content);
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6})
    void shouldStreamPacketsOfAnyLengthInParts(long seed) {
        Random random = new Random(seed);
        for (int packet = 0; packet < 300; packet++) {
            int bytes = random.nextInt(4) == 0 ? random.nextInt(10) : random.nextInt(CELL * CELLS * 2);
            int cut = random.nextInt(bytes + 1);
            long header = PacketHeader.of(bytes, packet, 0, 0);
            long trailer = random.nextBoolean() ? PacketHeader.of(0, packet, 1, PacketHeader.LAST) : 0;
            MemorySegment source = random(random, bytes);
            MemorySegment target = MemorySegment.ofArray(new byte[bytes]);
            BufferGroup out = Side.group(source.asSlice(0, cut), source.asSlice(cut));
            BufferGroup in = Side.group(target.asSlice(0, cut), target.asSlice(cut));
            boolean sent = false;
            while (!sent || !in.isEmpty()) {
                if (!sent && random.nextBoolean()) {
                    sent = send(header, out, trailer);
                } else if (consumer.front() != 0) {
                    assertEquals(header, consumer.front());
                    consumer.receive(in, 1 + random.nextInt(bytes + 1));
                }
            }
            assertTrue(out.isEmpty());
            assertEquals(header, consumer.front());
            consumer.release();
            assertEquals(-1, source.mismatch(target), "packet " + packet);
            assertEquals(trailer != 0, consumer.isReadable());
            assertEquals(trailer, consumer.front());
            if (trailer != 0) {
                assertTrue(consumer.isReadable(), "an empty packet is news until it is released");
                consumer.release();
            }
            assertFalse(consumer.isReadable());
        }
    }

    @Test
    void shouldGoOnWhereItWasWhenCellsAreFreed() {
        MemorySegment source = random(new Random(7), CELL * 5);
        BufferGroup out = Side.group(source);
        long header = PacketHeader.of(CELL * 5, 0, 0, 0);
        assertFalse(send(header, out, 0));
        assertEquals(CELL * 2, out.remainingBytes());
        assertFalse(producer.hasRoom());
        assertFalse(send(header, out, 0));
        consumer.front();
        assertEquals(CELL, consumer.skip(CELL * 5), "one cell at a time");
        assertTrue(consumer.tookSpace());
        assertFalse(consumer.tookSpace());
        assertTrue(producer.hasRoom());
        assertFalse(send(header, out, 0));
        assertEquals(CELL, out.remainingBytes());
    }

    @Test
    void shouldTellTheSenderWhetherAllHasBeenRead() {
        assertTrue(producer.isAllRead());
        long header = PacketHeader.of(2 * CELL, 0, 0, 0);
        assertTrue(send(header, Side.group(random(new Random(7), 2 * CELL)), 0));
        consumer.front();
        for (long left = 2 * CELL; left > 0; left -= consumer.skip(left)) {
            assertFalse(producer.isAllRead(), left + " bytes are left");
        }
        consumer.release();
        assertTrue(producer.isAllRead());
    }

    @Test
    void shouldCutAPacketSoThatBothCopiesRunAtOnce() {
        MemorySegment source = random(new Random(7), 24 * 1024);
        assertTrue(send(PacketHeader.of(24 * 1024, 0, 0, 0), Side.group(source), 0));
        for (int cell = 0; cell < CELLS; cell++) {
            assertEquals(8 * 1024 + 1, OrderedWords.plain(memory, layout.state(cell)), "cell " + cell);
        }
    }

    @Test
    void shouldKeepWhatWasTakenWhenMemoryOfTheGroupWasFreed() {
        Arena arena = Arena.ofConfined();
        MemorySegment kept = random(new Random(3), 100);
        MemorySegment freed = arena.allocate(50);
        BufferGroup out = Side.group(kept, freed);
        arena.close();
        long header = PacketHeader.of(150, 0, 0, 0);
        assertThrows(IllegalStateException.class, () -> send(header, out, 0));
        assertEquals(50, out.remainingBytes());
        assertEquals(0, consumer.front());
        out.replaceMemory(MemorySegment.ofArray(new byte[64]));
        assertTrue(send(header, out, PacketHeader.of(0, 0, 1, PacketHeader.LAST | PacketHeader.ABORT)));
        MemorySegment target = MemorySegment.ofArray(new byte[150]);
        assertEquals(header, consumer.front());
        assertEquals(150, consumer.receive(Side.group(target), 150));
        assertEquals(-1, target.asSlice(0, 100).mismatch(kept));
        consumer.release();
        assertEquals(PacketHeader.of(0, 0, 1, PacketHeader.LAST | PacketHeader.ABORT), consumer.front());
    }

    @Test
    void shouldSayHowFarItCameWhenTheReceiversMemoryWasFreed() {
        MemorySegment source = random(new Random(3), 100);
        send(PacketHeader.of(100, 0, 0, 0), Side.group(source), 0);
        consumer.front();
        Arena arena = Arena.ofConfined();
        BufferGroup in = Side.group(MemorySegment.ofArray(new byte[50]), arena.allocate(50));
        arena.close();
        assertThrows(IllegalStateException.class, () -> consumer.receive(in, 100));
        assertEquals(50, in.remainingBytes());
        MemorySegment target = MemorySegment.ofArray(new byte[50]);
        assertEquals(50, consumer.receive(Side.group(target), 50));
        assertEquals(-1, target.mismatch(source.asSlice(50)));
    }

    @Test
    void shouldCarryEmptyPacketsOneCellEach() {
        for (int i = 0; i < CELLS; i++) {
            assertTrue(send(PacketHeader.of(0, i, 0, 0), new BufferGroup(), 0));
        }
        assertFalse(send(PacketHeader.of(0, CELLS, 0, 0), new BufferGroup(), 0));
        for (int i = 0; i < CELLS; i++) {
            assertEquals(PacketHeader.of(0, i, 0, 0), consumer.front());
            assertEquals(0, consumer.skip(0));
            consumer.release();
        }
        assertTrue(send(PacketHeader.of(0, CELLS, 0, 0), new BufferGroup(), 0));
    }

    @Test
    void shouldRecogniseWhatIsNoPartOfAPacket() {
        long header = PacketHeader.of(100, 0, 0, 0);
        long[][] broken = {
            // state, header, trailer
            {-1, header, 0},
            {102, header, 0},
            {1, header, 0},
            {101, 0, 0},
            {101, 0x7F00_0000_0000_0064L, 0},
            {101, header, header},
            {51, header, PacketHeader.of(0, 0, 1, 0)},
            {CELL + 2L, PacketHeader.of(CELL * 2, 0, 0, 0), 0},
        };
        for (long[] words : broken) {
            MemorySegment fresh = fresh();
            fresh.set(ValueLayout.JAVA_LONG, layout.state(0), words[0]);
            fresh.set(ValueLayout.JAVA_LONG, layout.header(0), words[1]);
            fresh.set(ValueLayout.JAVA_LONG, layout.trailer(0), words[2]);
            CellConsumer reader = new CellConsumer(fresh, layout);
            assertEquals(CellConsumer.BROKEN, reader.front(), "state " + words[0]);
            assertEquals(CellConsumer.BROKEN, reader.front(), "and it stays broken");
        }
    }

    @Test
    void shouldRecogniseAHeaderInTheMiddleOfAPacket() {
        assertTrue(send(PacketHeader.of(20_000, 0, 0, 0), Side.group(random(new Random(1), 20_000)), 0));
        OrderedWords.setPlain(memory, layout.header(1), PacketHeader.of(8, 1, 0, 0));
        consumer.front();
        assertEquals(8192, consumer.skip(20_000));
        assertEquals(0, consumer.skip(20_000));
        assertTrue(consumer.isBroken());
    }
}
