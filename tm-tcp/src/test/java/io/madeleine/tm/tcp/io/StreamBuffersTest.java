package io.madeleine.tm.tcp.io;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.pmm.spi.BufferGroup;
import io.madeleine.pmm.spi.LinkStatus;
import io.madeleine.pmm.spi.PacketHeader;
import io.madeleine.tm.tcp.Pair;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.Test;

class StreamBuffersTest {
    private static final int KIB = 1024;

    private final StreamBuffers buffers = new StreamBuffers(4 * KIB);

    @Test
    void shouldHandOutAgainWhatWasGivenBack() {
        var first = buffers.take();
        var second = buffers.take();
        assertNotSame(first, second);
        assertEquals(4 * KIB, first.memory().byteSize());
        buffers.give(first);
        assertSame(first, buffers.take());
    }

    /** From a target just behind the beginning of a page some processors copy at a fifth of their rate. */
    @Test
    void shouldBeginInTheMiddleOfAPage() {
        for (int bytes : new int[] {4 * KIB, 512 * KIB}) {
            var buffer = new StreamBuffers(bytes).take();
            assertEquals(SlowCopy.AWAY_BYTES, buffer.memory().address() % (4 * KIB));
            assertEquals(bytes, buffer.memory().byteSize());
            assertEquals(bytes, buffer.bytes().capacity());
        }
    }

    @Test
    void shouldNeverLendABufferToTwo() throws Exception {
        var lent = ConcurrentHashMap.newKeySet();
        List<CompletableFuture<Void>> threads = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            threads.add(CompletableFuture.runAsync(() -> {
                for (int k = 0; k < 50_000; k++) {
                    var taken = buffers.take();
                    assertTrue(lent.add(System.identityHashCode(taken.bytes())));
                    lent.remove(System.identityHashCode(taken.bytes()));
                    buffers.give(taken);
                }
            }));
        }
        for (var thread : threads) {
            thread.get();
        }
    }

    @Test
    void shouldSpendNoBufferOnConnectionsThatAreIdle() throws Exception {
        try (Pair pair = new Pair();
                Arena arena = Arena.ofShared()) {
            MemorySegment block = arena.allocate(100 * KIB);
            exchange(pair, pair.connect("warm"), block);
            long perEnd = Long.MAX_VALUE;
            for (int i = 0; i < 3 && perEnd >= 4 * KIB; i++) { // some exchange may take a buffer more than those before
                perEnd = directBytesPerIdleEnd(pair, "round " + i, block);
            }
            assertTrue(perEnd < 4 * KIB, perEnd + " B outside the heap for each idle end");
        }
    }

    private long directBytesPerIdleEnd(Pair pair, String name, MemorySegment block) throws Exception {
        int connections = 64;
        long before = directBytes();
        for (int i = 0; i < connections; i++) {
            exchange(pair, pair.connect(name + " channel " + i), block);
        }
        return (directBytes() - before) / (2 * connections);
    }

    private static void exchange(Pair pair, Pair.Ends ends, MemorySegment block) {
        BufferGroup out = new BufferGroup();
        BufferGroup in = new BufferGroup();
        out.add(block, 0, block.byteSize());
        in.add(block, 0, block.byteSize());
        long header = PacketHeader.of((int) block.byteSize(), 0, 0, PacketHeader.FIRST | PacketHeader.LAST);
        boolean[] sent = {false};
        pair.driveUntil(() -> {
            sent[0] = sent[0] || ends.left().link.send(header, out, 0) == LinkStatus.COMPLETE;
            if (ends.right().link.front() > 0) {
                ends.right().link.receive(in, in.remainingBytes());
            }
            return sent[0] && in.isEmpty();
        });
        ends.right().link.release();
    }

    private static long directBytes() {
        return ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class).stream()
                .filter(pool -> pool.getName().equals("direct"))
                .mapToLong(BufferPoolMXBean::getMemoryUsed)
                .sum();
    }
}
