package io.madeleine.tm.tcp.stream;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.pmm.spi.Blocks;
import io.madeleine.pmm.spi.BufferGroup;
import io.madeleine.pmm.spi.LinkStatus;
import io.madeleine.pmm.spi.PacketHeader;
import io.madeleine.pmm.spi.Reactor;
import io.madeleine.tm.tcp.TlsTest;
import io.madeleine.tm.tcp.config.TcpConfig;
import io.madeleine.tm.tcp.io.SlowCopy;
import io.madeleine.tm.tcp.io.StreamBuffers;
import io.madeleine.tm.tcp.io.Wire;
import java.io.ByteArrayOutputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What is written at a time, as the wire sees it. */
class StreamSenderTest {
    private static final int KIB = 1024;
    private static final int MESSAGES = 48;

    private final CountingWire wire = new CountingWire();
    private final StreamSender sender =
            new StreamSender(wire, new TcpConfig.StreamConfig(512 * KIB, 256 * KIB), new StreamBuffers(512 * KIB));
    private final ByteArrayOutputStream expected = new ByteArrayOutputStream();

    /** Takes all that it is given, and counts. */
    private static final class CountingWire implements Wire {
        private final ByteArrayOutputStream written = new ByteArrayOutputStream();
        private final List<Integer> writes = new ArrayList<>();
        private MemorySegment last = MemorySegment.NULL;
        private boolean copiedByKernel = true;

        @Override
        public boolean reachesUserMemory() {
            return true;
        }

        @Override
        public boolean isCopiedByKernel() {
            return copiedByKernel;
        }

        @Override
        public int read(ByteBuffer target) {
            return 0;
        }

        @Override
        public int write(ByteBuffer source) {
            writes.add(source.remaining());
            last = MemorySegment.ofBuffer(source);
            byte[] bytes = new byte[source.remaining()];
            source.get(bytes);
            written.writeBytes(bytes);
            return bytes.length;
        }

        @Override
        public void register(Reactor.ReadyHandler handler) {}

        @Override
        public void interest(int operations) {}

        @Override
        public void shutdownOutput() {}

        @Override
        public void close() {}
    }

    private void expectLong(long word) {
        expected.writeBytes(ByteBuffer.allocate(Long.BYTES)
                .order(Blocks.LONG.order())
                .putLong(word)
                .array());
    }

    private void send(int bytes, boolean mayKeep) throws Exception {
        for (int i = 0; i < MESSAGES; i++) {
            byte[] content = TlsTest.pattern(bytes);
            content[0] = (byte) i;
            MemorySegment block = Arena.ofAuto().allocate(bytes);
            MemorySegment.copy(content, 0, block, Blocks.BYTE, 0, bytes);
            long header = PacketHeader.of(bytes, i, 0, PacketHeader.FIRST);
            long trailer = PacketHeader.of(0, i, 1, PacketHeader.LAST);
            BufferGroup group = new BufferGroup();
            group.add(block, 0, bytes);
            assertEquals(LinkStatus.COMPLETE, sender.send(header, group, trailer, mayKeep));
            block.fill((byte) -1); // it is its user's again
            expectLong(header);
            expected.writeBytes(content);
            expectLong(trailer);
        }
        assertTrue(sender.flush());
        assertArrayEquals(expected.toByteArray(), wire.written.toByteArray());
    }

    @ParameterizedTest
    @ValueSource(ints = {8, 1024, 16 * KIB, 24 * KIB, 32 * KIB, 48 * KIB, 64 * KIB, 128 * KIB})
    void shouldWriteADenseStreamInWholeSegments(int bytes) throws Exception {
        send(bytes, true);
        int all = expected.size();
        wire.writes.removeLast(); // what was left for the flush
        wire.writes.forEach(written -> assertEquals(0, written % StreamSender.SEGMENT_BYTES));
        assertTrue(wire.writes.size() <= Math.min(MESSAGES, all / StreamSender.SEGMENT_BYTES));
    }

    @ParameterizedTest
    @ValueSource(ints = {8, 16 * KIB, 64 * KIB, 128 * KIB})
    void shouldTakeOneWriteForHeaderBlockAndEndMark(int bytes) throws Exception {
        send(bytes, false);
        assertEquals(MESSAGES, wire.writes.size());
    }

    /**
     * The kernel's page begins with the header, so that the block lies 8 bytes behind where it is in the user's memory.
     */
    @ParameterizedTest
    @CsvSource({
        "0, true, false",
        "4080, true, false",
        "8, true, true",
        "16, true, true",
        "2048, true, true",
        "0, false, true"
    })
    void shouldWriteALargeBlockInPlaceUnlessTheKernelWouldCopyItSlowly(
            int behindPage, boolean byKernel, boolean inPlace) throws Exception {
        wire.copiedByKernel = byKernel;
        int bytes = 512 * KIB;
        MemorySegment block = Arena.ofAuto()
                .allocate(bytes + SlowCopy.PAGE_BYTES, SlowCopy.PAGE_BYTES)
                .asSlice(behindPage, bytes);
        BufferGroup group = new BufferGroup();
        group.add(block, 0, bytes);
        assertEquals(
                LinkStatus.COMPLETE, sender.send(PacketHeader.of(bytes, 0, 0, PacketHeader.FIRST), group, 0, false));
        assertEquals(inPlace, block.asOverlappingSlice(wire.last).isPresent());
    }
}
