package io.madeleine.tm.tcp.tls;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.pmm.spi.Reactor;
import io.madeleine.tm.tcp.TlsTest;
import io.madeleine.tm.tcp.io.ByteQueue;
import io.madeleine.tm.tcp.io.InterruptedRecordException;
import io.madeleine.tm.tcp.io.Wire;
import java.lang.foreign.Arena;
import java.nio.ByteBuffer;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

/** What is read with the end of the handshake, and memory that is freed between two records. */
class TlsInputTest {
    private static final int RECORDS = 16;

    private final TlsBuffers buffers = new TlsBuffers(false);
    private final Socket socket = new Socket();
    private final OpenEngine engine = new OpenEngine();

    private static byte[] records(byte[] plain, int count) {
        int each = plain.length / count;
        ByteBuffer records = ByteBuffer.allocate(plain.length + count * 5);
        for (int i = 0; i < count; i++) {
            records.put((byte) 0x17).putShort((short) 0x303).putShort((short) each);
            records.put(plain, i * each, each);
        }
        return records.array();
    }

    private byte[] readAll(TlsInput input, int bytes) throws Exception {
        ByteBuffer target = ByteBuffer.allocate(bytes);
        while (input.read(target) > 0 && target.hasRemaining()) {}
        return Arrays.copyOf(target.array(), target.position());
    }

    @Test
    void shouldTakeMoreThanABufferOfWhatCameWithTheHandshake() throws Exception {
        byte[] plain = TlsTest.pattern(RECORDS * 16_000);
        byte[] behind = TlsTest.pattern(1000);
        byte[] leftover = records(plain, RECORDS);
        assertTrue(leftover.length > new ByteQueue(buffers.records()).room().capacity());
        TlsInput input = new TlsInput(socket, engine, buffers, leftover);
        assertTrue(input.hasArrived());
        assertArrayEquals(plain, readAll(input, plain.length));
        assertFalse(input.hasArrived());
        socket.arrives(records(behind, 1));
        assertArrayEquals(behind, readAll(input, behind.length));
    }

    @Test
    void shouldGoOnWithARecordOfWhichAPartCameWithTheHandshake() throws Exception {
        byte[] plain = TlsTest.pattern(RECORDS * 16_000);
        byte[] records = records(plain, RECORDS);
        int part = 20_000;
        TlsInput input = new TlsInput(socket, engine, buffers, Arrays.copyOf(records, part));
        socket.arrives(Arrays.copyOfRange(records, part, records.length));
        assertArrayEquals(plain, readAll(input, plain.length));
    }

    @Test
    void shouldKeepARecordWhoseMemoryHasBeenFreed() throws Exception {
        byte[] plain = TlsTest.pattern(4 * 16_000);
        socket.arrives(records(plain, 4));
        TlsInput input = new TlsInput(socket, engine, buffers, new byte[0]);
        Arena arena = Arena.ofShared();
        ByteBuffer freed = arena.allocate(plain.length).asByteBuffer();
        engine.beforeRecord = number -> {
            if (number == 2) {
                arena.close();
            }
        };
        assertEquals(16_000, input.read(freed), "the first record");
        assertThrows(IllegalStateException.class, () -> input.read(freed));
        assertArrayEquals(Arrays.copyOfRange(plain, 16_000, plain.length), readAll(input, 3 * 16_000));
    }

    /** The same where the second record has come with the handshake, and more is to be read. */
    @Test
    void shouldReadNothingFurtherForMemoryThatHasBeenFreed() throws Exception {
        byte[] plain = TlsTest.pattern(4 * 16_000);
        byte[] records = records(plain, 4);
        int half = records.length / 2;
        TlsInput input = new TlsInput(socket, engine, buffers, Arrays.copyOf(records, half));
        socket.arrives(Arrays.copyOfRange(records, half, records.length));
        Arena arena = Arena.ofShared();
        ByteBuffer freed = arena.allocate(plain.length).asByteBuffer();
        engine.beforeRecord = number -> {
            if (number == 2) {
                arena.close();
            }
        };
        assertEquals(16_000, input.read(freed), "the first record");
        assertArrayEquals(Arrays.copyOfRange(plain, 16_000, plain.length), readAll(input, 3 * 16_000));
    }

    /** What was sent cannot be had whole any more, and nothing else may be taken for it. */
    @Test
    void shouldReadNothingBehindARecordThatMemoryWasTooShortFor() {
        byte[] plain = TlsTest.pattern(4 * 16_000);
        socket.arrives(records(plain, 4));
        TlsInput input = new TlsInput(socket, engine, buffers, new byte[0]);
        engine.beforeRecord = number -> {
            if (number == 2) {
                throw new OutOfMemoryError("as a test");
            }
        };
        ByteBuffer target = ByteBuffer.allocate(plain.length);
        assertThrows(OutOfMemoryError.class, () -> input.read(target));
        assertThrows(InterruptedRecordException.class, () -> input.read(target));
    }

    /** What has arrived, and nothing else. */
    private static final class Socket implements Wire {
        private ByteBuffer arrived = ByteBuffer.allocate(0);

        void arrives(byte[] bytes) {
            arrived = ByteBuffer.wrap(bytes);
        }

        @Override
        public boolean reachesUserMemory() {
            return true;
        }

        @Override
        public int read(ByteBuffer target) {
            int count = Math.min(arrived.remaining(), target.remaining());
            target.put(arrived.slice(arrived.position(), count));
            arrived.position(arrived.position() + count);
            return count;
        }

        @Override
        public int write(ByteBuffer source) {
            throw new UnsupportedOperationException();
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
}
