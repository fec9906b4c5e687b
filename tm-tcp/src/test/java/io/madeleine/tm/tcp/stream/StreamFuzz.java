package io.madeleine.tm.tcp.stream;

import io.madeleine.pmm.spi.BufferGroup;
import io.madeleine.pmm.spi.PacketHeader;
import io.madeleine.pmm.spi.Reactor;
import io.madeleine.tm.tcp.config.TcpConfig;
import io.madeleine.tm.tcp.io.StreamBuffers;
import io.madeleine.tm.tcp.io.Wire;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.Arrays;

/**
 * What a fuzzer calls with bytes of its own as what an authenticated peer sends after the handshake. The first bytes
 * say in which pieces they come and how much is taken at a time.
 */
public final class StreamFuzz {
    private static final StreamBuffers BUFFERS = new StreamBuffers(4096);
    private static final TcpConfig.StreamConfig CONFIG = new TcpConfig.StreamConfig(4096, 256);
    private static final MemorySegment MEMORY = Arena.global().allocate(64 * 1024);
    private static final int SCRIPT_BYTES = 8;

    /** The word at the end of an orderly stream, which a seed contains. */
    public static final long FAREWELL = StreamReceiver.FAREWELL;

    private StreamFuzz() {}

    /** One attempt. */
    public static void fuzzerTestOneInput(byte[] input) throws IOException {
        if (input.length < SCRIPT_BYTES) {
            return;
        }
        byte[] script = Arrays.copyOf(input, SCRIPT_BYTES);
        Pieces wire = new Pieces(Arrays.copyOfRange(input, SCRIPT_BYTES, input.length), script);
        StreamReceiver receiver = new StreamReceiver(wire, CONFIG, BUFFERS);
        try {
            int idle = 0;
            for (int step = 0; idle < 4; step++) {
                int readBefore = wire.bytes.position();
                boolean moved = take(receiver, Byte.toUnsignedInt(script[step % SCRIPT_BYTES]));
                idle = moved || wire.bytes.position() > readBefore ? 0 : idle + 1;
                if (step > 100_000) {
                    throw new AssertionError("it does not come to an end");
                }
            }
            if (!receiver.hasEnded()) {
                throw new AssertionError("the end of the stream was missed");
            }
        } catch (BrokenStreamException e) {
            if (!receiver.hasEnded() || receiver.leftBytes() != 0) {
                throw new AssertionError("a broken stream goes on", e);
            }
        } finally {
            receiver.drop();
        }
    }

    /** Takes some of what is in front; returns whether anything moved. */
    private static boolean take(StreamReceiver receiver, int how) throws IOException, BrokenStreamException {
        long header = receiver.front();
        if (header == 0) {
            return false;
        }
        long left = receiver.leftBytes();
        if (!PacketHeader.isValid(header) || left < 0 || left > PacketHeader.payloadBytes(header)) {
            throw new AssertionError("header " + Long.toHexString(header) + ", " + left + " bytes left");
        }
        if (left == 0) {
            receiver.release();
            return true;
        }
        long moved;
        if ((how & 1) == 0) {
            moved = receiver.skip(how * 97L + 1);
        } else {
            BufferGroup group = new BufferGroup();
            group.add(MEMORY, 0, how * 31L + 1);
            group.add(MEMORY, 0, MEMORY.byteSize());
            long room = group.remainingBytes();
            moved = receiver.receive(group, left);
            if (moved != room - group.remainingBytes()) {
                throw new AssertionError(moved + " bytes told, " + (room - group.remainingBytes()) + " moved");
            }
        }
        if (moved < 0 || receiver.leftBytes() != left - moved) {
            throw new AssertionError(moved + " bytes of " + left + ", then " + receiver.leftBytes());
        }
        return moved > 0;
    }

    /** The fuzzer's bytes, in pieces; then the end. */
    private static final class Pieces implements Wire {
        private final ByteBuffer bytes;
        private final byte[] script;
        private int reads;

        Pieces(byte[] bytes, byte[] script) {
            this.bytes = ByteBuffer.wrap(bytes);
            this.script = script;
        }

        @Override
        public boolean reachesUserMemory() {
            return true;
        }

        @Override
        public int read(ByteBuffer target) {
            if (!bytes.hasRemaining()) {
                return -1;
            }
            int piece = Byte.toUnsignedInt(script[reads++ % SCRIPT_BYTES]);
            int count =
                    Math.min(piece == 0 ? Integer.MAX_VALUE : piece, Math.min(bytes.remaining(), target.remaining()));
            target.put(target.position(), bytes, bytes.position(), count);
            target.position(target.position() + count);
            bytes.position(bytes.position() + count);
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
