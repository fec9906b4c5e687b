package io.madeleine.tm.tcp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import io.madeleine.pmm.spi.BufferGroup;
import io.madeleine.pmm.spi.DynamicLink;
import io.madeleine.pmm.spi.LinkStatus;
import io.madeleine.pmm.spi.PacketHeader;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A ping-pong of two spinning threads, each polling its side as the engine does. */
@Timeout(60)
@Tag("measures")
class AllocationTest {
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private static final int MESSAGES = 500;
    private static final int STRETCHES = 8;

    /**
     * What a thread allocated in several stretches of messages. The least counts: while the compiler replaces code a
     * few objects may be seen, but what a message allocates shows in every stretch.
     */
    private static final class Meter {
        private final int stretch;
        private long startBytes;
        private long leastBytes = Long.MAX_VALUE;

        Meter(int stretch) {
            this.stretch = stretch;
        }

        void count(int message) {
            if (message % stretch == 0) {
                long bytes = THREADS.getCurrentThreadAllocatedBytes();
                if (message > stretch) { // the first stretch is a warm-up
                    leastBytes = Math.min(leastBytes, bytes - startBytes);
                }
                startBytes = bytes;
            }
        }

        long bytesPerMessage() {
            return leastBytes / stretch;
        }
    }

    private static final class Player {
        private final Pair.Side side;
        private final DynamicLink link;
        private final MemorySegment block;
        private final BufferGroup out = new BufferGroup();
        private final BufferGroup in = new BufferGroup();
        private int received;
        private int polls;

        Player(Pair.Side side, Pair.End end, MemorySegment block) {
            this.side = side;
            this.link = end.link;
            this.block = block;
            end.whenReadable(this::onReadable);
        }

        private boolean onReadable() {
            long front = link.front();
            if (front <= 0) {
                return false;
            }
            if (in.isEmpty() && PacketHeader.payloadBytes(front) > 0) {
                in.add(block, 0, block.byteSize());
            }
            link.receive(in, block.byteSize());
            if (in.isEmpty()) {
                link.release();
                received++;
            }
            return true;
        }

        void send(int number) {
            long header = PacketHeader.of((int) block.byteSize(), number & 0xFFF, 0, PacketHeader.FIRST);
            long trailer = PacketHeader.of(0, number & 0xFFF, 1, PacketHeader.LAST);
            out.add(block, 0, block.byteSize());
            while (link.send(header, out, trailer) != LinkStatus.COMPLETE) {
                poll();
            }
        }

        void await(int count) {
            long startNs = System.nanoTime();
            while (received < 2 * count) {
                poll();
                assertTrue(System.nanoTime() - startNs < Pair.PATIENCE.toNanos());
            }
        }

        private void poll() {
            side.progress.poll(System.nanoTime());
            if (++polls % 64 == 0) {
                Thread.yield(); // the other player may need this core
            }
        }
    }

    @ParameterizedTest
    @CsvSource({"8, native", "8, heap", "4096, native", "65536, native", "65536, heap", "1048576, native"})
    void shouldAllocateNothingPerMessageWhileSpinning(int bytes, String kind) throws Exception {
        int scale = bytes > 100_000 ? 10 : 1;
        try (Pair pair = new Pair();
                Arena arena = Arena.ofShared()) {
            Pair.Ends ends = pair.connect();
            Player ping = new Player(pair.left, ends.left(), block(arena, bytes, kind));
            Player pong = new Player(pair.right, ends.right(), block(arena, bytes, kind));
            int stretch = MESSAGES / scale;
            int rounds = STRETCHES * stretch;
            Meter ofPong = new Meter(stretch);
            Thread other = Thread.ofPlatform().start(() -> {
                for (int i = 1; i <= rounds; i++) {
                    pong.await(i);
                    pong.send(i);
                    ofPong.count(i);
                }
            });
            Meter ofPing = new Meter(stretch);
            for (int i = 1; i <= rounds; i++) {
                ping.send(i);
                ping.await(i);
                ofPing.count(i);
            }
            other.join();
            assertEquals(0, ofPing.bytesPerMessage(), "bytes per message at ping");
            assertEquals(0, ofPong.bytesPerMessage(), "bytes per message at pong");
        }
    }

    private static MemorySegment block(Arena arena, int bytes, String kind) {
        return kind.equals("heap") ? MemorySegment.ofArray(new byte[bytes]) : arena.allocate(bytes);
    }
}
