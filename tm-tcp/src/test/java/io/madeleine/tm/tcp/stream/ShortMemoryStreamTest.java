package io.madeleine.tm.tcp.stream;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.pmm.spi.BufferGroup;
import io.madeleine.pmm.spi.LinkStatus;
import io.madeleine.pmm.spi.PacketHeader;
import io.madeleine.pmm.spi.Reactor;
import io.madeleine.tm.tcp.config.TcpConfig;
import io.madeleine.tm.tcp.io.StreamBuffers;
import io.madeleine.tm.tcp.io.Wire;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Packets go on where they were when memory is there again. */
class ShortMemoryStreamTest {
    private static final int BYTES = 10_000;
    private static final int BUFFER_BYTES = 1024;
    private static final long FIRST = PacketHeader.of(BYTES, 0, 0, PacketHeader.FIRST);
    private static final long SECOND = PacketHeader.of(0, 0, 1, PacketHeader.LAST);
    private static final byte[] PAYLOAD = payload();

    private static byte[] payload() {
        byte[] bytes = new byte[BYTES];
        new Random(5).nextBytes(bytes);
        return bytes;
    }

    /** The bytes of the packet and of the end mark behind it. */
    private static byte[] stream() {
        return ByteBuffer.allocate(BYTES + 2 * Long.BYTES)
                .order(ByteOrder.nativeOrder())
                .putLong(FIRST)
                .put(PAYLOAD)
                .putLong(SECOND)
                .array();
    }

    /** Every other call finds no memory. */
    private static final class ShortWire implements Wire {
        private final ByteArrayOutputStream written = new ByteArrayOutputStream();
        private final ByteBuffer unread = ByteBuffer.wrap(stream());
        private int calls;

        private void fail() {
            if (++calls % 2 == 0) {
                throw new OutOfMemoryError("of the wire");
            }
        }

        @Override
        public boolean reachesUserMemory() {
            return true;
        }

        @Override
        public int read(ByteBuffer target) {
            fail();
            int bytes = Math.min(target.remaining(), unread.remaining());
            target.put(unread.slice(unread.position(), bytes));
            unread.position(unread.position() + bytes);
            return bytes;
        }

        @Override
        public int write(ByteBuffer source) {
            fail();
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

    private final ShortWire wire = new ShortWire();
    private final TcpConfig.StreamConfig config = new TcpConfig.StreamConfig(BUFFER_BYTES, Integer.MAX_VALUE);
    private final StreamBuffers buffers = new StreamBuffers(BUFFER_BYTES);

    @Test
    void shouldSendAPacketOnceThoughMemoryEndsAgainAndAgain() throws IOException {
        StreamSender sender = new StreamSender(wire, config, buffers);
        BufferGroup group = new BufferGroup();
        group.add(MemorySegment.ofArray(PAYLOAD), 0, BYTES);
        int calls = 1;
        while (sender.send(FIRST, group, SECOND, false) == LinkStatus.PENDING) {
            calls++;
        }
        assertTrue(calls > 5, () -> "memory has not ended: " + wire.calls);
        assertArrayEquals(stream(), wire.written.toByteArray());
    }

    @Test
    void shouldDropAPacketOnceThoughMemoryEndsAgainAndAgain() throws Exception {
        StreamReceiver receiver = new StreamReceiver(wire, config, buffers);
        assertEquals(FIRST, receiver.front());
        int calls = 0;
        for (long dropped = 0; dropped < BYTES && calls < BYTES; calls++) {
            dropped += receiver.skip(BYTES - dropped);
        }
        assertTrue(calls > 5, () -> "memory has not ended: " + wire.calls);
        receiver.release();
        assertEquals(SECOND, receiver.front());
    }
}
