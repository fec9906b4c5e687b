package io.madeleine.tm.tcp.stream;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.madeleine.pmm.spi.Blocks;
import io.madeleine.pmm.spi.BufferGroup;
import io.madeleine.pmm.spi.PacketHeader;
import io.madeleine.pmm.spi.Reactor;
import io.madeleine.tm.tcp.TlsTest;
import io.madeleine.tm.tcp.config.TcpConfig;
import io.madeleine.tm.tcp.io.SlowCopy;
import io.madeleine.tm.tcp.io.StreamBuffers;
import io.madeleine.tm.tcp.io.Wire;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Where a receiver reads to, as the wire sees it. */
class StreamReceiverTest {
    private static final int KIB = 1024;
    private static final int BYTES = 512 * KIB;

    /** Brings what it was made with, a header first. */
    private static final class BringingWire implements Wire {
        private final ByteBuffer coming;
        private final MemorySegment block;
        private boolean inPlace;

        BringingWire(ByteBuffer coming, MemorySegment block) {
            this.coming = coming;
            this.block = block;
        }

        @Override
        public boolean reachesUserMemory() {
            return true;
        }

        @Override
        public int read(ByteBuffer target) {
            inPlace |= block.asOverlappingSlice(MemorySegment.ofBuffer(target)).isPresent();
            int bytes = Math.min(Math.min(target.remaining(), coming.remaining()), 64 * KIB);
            target.put(coming.slice(coming.position(), bytes));
            coming.position(coming.position() + bytes);
            return bytes;
        }

        @Override
        public int write(ByteBuffer source) {
            return 0;
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

    /** The kernel's page begins with the header, so that the block lies 8 bytes behind where it is to be. */
    @ParameterizedTest
    @CsvSource({"0, true", "8, true", "16, false", "32, false", "40, true", "2048, true"})
    void shouldReadALargeBlockInPlaceUnlessTheKernelWouldCopyItSlowly(int behindPage, boolean inPlace)
            throws Exception {
        byte[] content = TlsTest.pattern(BYTES);
        long header = PacketHeader.of(BYTES, 0, 0, PacketHeader.FIRST);
        ByteBuffer coming = ByteBuffer.allocate(Long.BYTES + BYTES).order(Blocks.LONG.order());
        coming.putLong(header).put(content).flip();
        MemorySegment block = Arena.ofAuto()
                .allocate(BYTES + SlowCopy.PAGE_BYTES, SlowCopy.PAGE_BYTES)
                .asSlice(behindPage, BYTES);
        BringingWire wire = new BringingWire(coming, block);
        StreamReceiver receiver = new StreamReceiver(
                wire, new TcpConfig.StreamConfig(128 * KIB, 256 * KIB), new StreamBuffers(128 * KIB));
        BufferGroup group = new BufferGroup();
        group.add(block, 0, BYTES);
        assertEquals(header, receiver.front());
        while (!group.isEmpty()) {
            receiver.receive(group, BYTES);
        }
        assertArrayEquals(content, block.toArray(Blocks.BYTE));
        assertEquals(inPlace, wire.inPlace);
    }

    @Test
    void shouldTakePacketsThatCameWithTheHandshakeThoughTheyAreMoreThanABuffer() throws Exception {
        int buffer = 4096;
        byte[] payload = TlsTest.pattern(5 * buffer);
        long header = PacketHeader.of(payload.length, 0, 0, PacketHeader.FIRST | PacketHeader.LAST);
        ByteBuffer early = ByteBuffer.allocate(Long.BYTES + payload.length).order(Blocks.LONG.order());
        early.putLong(header).put(payload).flip();
        MemorySegment memory = Arena.ofAuto().allocate(payload.length);
        StreamReceiver receiver = new StreamReceiver(
                new BringingWire(ByteBuffer.allocate(0), memory),
                new TcpConfig.StreamConfig(buffer, 256),
                new StreamBuffers(buffer));
        receiver.prepend(early);
        assertEquals(header, receiver.front());
        BufferGroup group = new BufferGroup();
        group.add(memory, 0, payload.length);
        assertEquals(payload.length, receiver.receive(group, payload.length));
        assertArrayEquals(payload, memory.toArray(Blocks.BYTE));
    }
}
