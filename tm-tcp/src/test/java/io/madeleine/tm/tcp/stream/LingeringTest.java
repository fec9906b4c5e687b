package io.madeleine.tm.tcp.stream;

import static java.nio.channels.SelectionKey.OP_READ;
import static java.nio.channels.SelectionKey.OP_WRITE;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.pmm.spi.ProcessIdentity;
import io.madeleine.pmm.spi.Reactor;
import io.madeleine.tm.tcp.Pair;
import io.madeleine.tm.tcp.config.TcpConfig;
import io.madeleine.tm.tcp.io.StreamBuffers;
import io.madeleine.tm.tcp.io.Wire;
import java.nio.ByteBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What is watched of a closed connection. */
@Timeout(60)
class LingeringTest {
    private final ScriptedWire wire = new ScriptedWire();
    private Pair.Side side;
    private TcpConnection connection;

    /** Reads what it is told, and keeps what it is to watch. */
    private static final class ScriptedWire implements Wire {
        private int read;
        private boolean unsent = true;
        private int interest = -1;
        private boolean closed;

        @Override
        public boolean reachesUserMemory() {
            return true;
        }

        @Override
        public int read(ByteBuffer target) {
            return read;
        }

        @Override
        public int write(ByteBuffer source) {
            return 0;
        }

        @Override
        public boolean hasUnsent() {
            return unsent;
        }

        @Override
        public void register(Reactor.ReadyHandler handler) {}

        @Override
        public void interest(int operations) {
            interest = operations;
        }

        @Override
        public void shutdownOutput() {}

        @Override
        public void close() {
            closed = true;
        }
    }

    @BeforeEach
    void open() {
        side = new Pair.Side(1, Pair.SESSION, Pair.SECRET, "madeleine.tm.tcp.close-linger = 30s");
        connection = new TcpConnection(
                new ProcessIdentity(2, 0),
                wire,
                (TcpProgress) side.progress,
                TcpStreamLink.CAPABILITIES,
                new TcpConfig.StreamConfig(4096, 256),
                new StreamBuffers(4096));
    }

    @AfterEach
    void close() {
        wire.unsent = false;
        wire.read = -1;
        ready();
        assertTrue(wire.closed);
        side.close();
    }

    private void ready() {
        ((TcpProgress) side.progress).lingering().onReady(connection);
    }

    private void closeConnection() {
        connection.close();
        while (wire.interest < 0) {
            side.poll();
        }
    }

    /** A socket at the end of its stream is always ready to read, so that no sleep would last. */
    @Test
    void shouldNotWatchForBytesBehindTheEndOfTheStream() {
        wire.read = -1;
        closeConnection();
        assertEquals(OP_WRITE, wire.interest);
        assertFalse(wire.closed, "the rest is still to be sent");
    }

    @Test
    void shouldWatchForRoomAsLongAsTheWireHasUnsentBytes() {
        closeConnection();
        assertEquals(OP_READ | OP_WRITE, wire.interest);
        wire.unsent = false;
        ready();
        assertEquals(OP_READ, wire.interest);
    }
}
