package io.madeleine.tm.sci.wake;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.pmm.spi.ProcessIdentity;
import io.madeleine.pmm.spi.Reactor;
import io.madeleine.tm.sci.files.FileStem;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DoorbellTest {
    private static final FileStem SELF = new FileStem(new ProcessIdentity(1, 0), 0);
    private static final int HELLO_BYTES = 32;

    @TempDir
    Path directory;

    private Path file;
    private ServerSocketChannel server;

    @BeforeEach
    void listen() throws IOException {
        file = directory.resolve("bell");
        server = ServerSocketChannel.open(StandardProtocolFamily.UNIX).bind(UnixDomainSocketAddress.of(file));
    }

    @AfterEach
    void close() throws IOException {
        server.close();
    }

    /** Notes the end of a line. */
    private static final class Keeper implements Doorbell.Keeper {
        private int silences;

        @Override
        public void onHello(Doorbell bell, FileStem caller) {}

        @Override
        public void onSilence(Doorbell bell) {
            silences++;
        }
    }

    /** Registers channels in one way, and does nothing else. */
    private abstract static class Registrar implements Reactor {
        @Override
        public int poll() {
            return 0;
        }

        @Override
        public int sleep(long timeoutNs) {
            return 0;
        }

        @Override
        public void wakeUp() {}

        @Override
        public void close() {}
    }

    private static final class Refusing extends Registrar {
        @Override
        public Registration register(SelectableChannel channel, int operations, ReadyHandler handler) {
            throw new UncheckedIOException("refused, as a test", new ClosedChannelException());
        }
    }

    /** Handles an event before the caller has its registration, as another thread may. */
    private static final class Prompt extends Registrar implements Reactor.Registration {
        private boolean cancelled;

        @Override
        public Registration register(SelectableChannel channel, int operations, ReadyHandler handler) {
            handler.onReady(SelectionKey.OP_READ);
            return this;
        }

        @Override
        public void operations(int operations) {}

        @Override
        public void cancel() {
            cancelled = true;
        }
    }

    private static void assertEnds(SocketChannel line, int bytesBefore) throws IOException {
        ByteBuffer buffer = ByteBuffer.allocate(2 * HELLO_BYTES);
        int read = 0;
        while (read >= 0) {
            read = line.read(buffer);
        }
        assertEquals(bytesBefore, buffer.position());
    }

    @Test
    void shouldCloseTheLineItDialsIfTheReactorRefusesIt() throws Exception {
        assertThrows(IOException.class, () -> Doorbell.dial(file, SELF, new Refusing(), new Keeper(), 7));
        try (SocketChannel line = server.accept()) {
            assertEnds(line, HELLO_BYTES);
        }
    }

    @Test
    void shouldCloseTheLineItAcceptsIfTheReactorRefusesIt() throws Exception {
        try (SocketChannel caller = SocketChannel.open(UnixDomainSocketAddress.of(file))) {
            SocketChannel line = server.accept();
            assertThrows(IOException.class, () -> Doorbell.accepted(line, new Refusing(), new Keeper(), 7));
            assertFalse(line.isOpen());
            assertEnds(caller, 0);
        }
    }

    @Test
    void shouldEndWhenTheLineEndsBeforeItsRegistrationIsKnown() throws Exception {
        SocketChannel caller = SocketChannel.open(UnixDomainSocketAddress.of(file));
        SocketChannel line = server.accept();
        caller.close();
        Keeper keeper = new Keeper();
        Prompt reactor = new Prompt();
        assertTrue(Doorbell.accepted(line, reactor, keeper, 7).isClosed());
        assertEquals(1, keeper.silences);
        assertTrue(reactor.cancelled);
    }
}
