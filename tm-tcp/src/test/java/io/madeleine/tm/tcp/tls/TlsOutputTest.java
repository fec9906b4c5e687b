package io.madeleine.tm.tcp.tls;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.pmm.spi.Reactor;
import io.madeleine.tm.tcp.io.Wire;
import java.nio.ByteBuffer;
import org.junit.jupiter.api.Test;

/** How a stream of records ends at a socket that accepts a part. */
class TlsOutputTest {
    private final Socket socket = new Socket();
    private final TlsWire wire = new TlsWire(socket, new OpenEngine(), new TlsBuffers(false), new byte[0]);

    @Test
    void shouldEndTheStreamOnlyBehindAWholeCloseNotify() throws Exception {
        socket.room = 3;
        wire.shutdownOutput();
        assertTrue(wire.hasUnsent());
        assertFalse(socket.shutDown, "the peer would see a record that is cut");
        socket.room = 2;
        wire.shutdownOutput();
        assertFalse(wire.hasUnsent());
        assertTrue(socket.shutDown);
        assertEquals(5, socket.written);
    }

    @Test
    void shouldSendTheRestOfTheRecordsBeforeTheCloseNotify() throws Exception {
        socket.room = 1;
        assertEquals(8, wire.write(ByteBuffer.allocate(8)));
        wire.shutdownOutput();
        assertFalse(socket.shutDown);
        socket.room = 100;
        wire.shutdownOutput();
        assertTrue(socket.shutDown);
        assertEquals(8 + 5 + 5, socket.written);
    }

    /** Has room for so many bytes. */
    private static final class Socket implements Wire {
        private int room;
        private int written;
        private boolean shutDown;

        @Override
        public boolean reachesUserMemory() {
            return true;
        }

        @Override
        public int read(ByteBuffer target) {
            return 0;
        }

        @Override
        public int write(ByteBuffer source) {
            int count = Math.min(room, source.remaining());
            source.position(source.position() + count);
            room -= count;
            written += count;
            return count;
        }

        @Override
        public void register(Reactor.ReadyHandler handler) {}

        @Override
        public void interest(int operations) {}

        @Override
        public void shutdownOutput() {
            shutDown = true;
        }

        @Override
        public void close() {}
    }
}
