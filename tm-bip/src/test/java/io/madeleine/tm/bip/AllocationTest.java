package io.madeleine.tm.bip;

import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import io.madeleine.pmm.spi.BufferGroup;
import io.madeleine.pmm.spi.LinkStatus;
import io.madeleine.pmm.spi.PacketHeader;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What a message allocates between two processes, both in this thread. */
@Timeout(60)
@Tag("measures")
class AllocationTest {
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    /** Until the code is compiled it allocates what the compiler then saves; that takes longer on a busy machine. */
    private static final long PATIENCE_NS = 40_000_000_000L;

    /** One message there and one back. */
    @FunctionalInterface
    private interface Round {
        void play(int number);
    }

    /** The configuration of both. */
    String settings() {
        return "";
    }

    /** How many bytes a message may allocate at most: one of 64 bytes, one of 100,000. */
    long mostBytes(boolean isLong) {
        return 0;
    }

    /**
     * Plays stretches of rounds until one allocates no more than it may per message; what the JVM does beside it shows
     * in the others.
     */
    private void assertAllocates(long mostBytes, int rounds, Round round) {
        long startNs = System.nanoTime();
        long least = Long.MAX_VALUE;
        int number = 0;
        while (least > mostBytes) {
            assertTrue(System.nanoTime() - startNs < PATIENCE_NS, least + " bytes per message");
            long before = THREADS.getCurrentThreadAllocatedBytes();
            for (int i = 0; i < rounds; i++) {
                round.play(number++);
            }
            least = Math.min(least, (THREADS.getCurrentThreadAllocatedBytes() - before) / (2L * rounds));
        }
    }

    @Test
    void shouldAllocateNothingForAShortMessage() {
        try (Pair pair = new Pair(settings(), settings());
                Arena arena = Arena.ofShared()) {
            Pair.Ends ends = pair.connect("short");
            MemorySegment block = arena.allocate(64);
            assertAllocates(mostBytes(false), 2000, number -> {
                long header = PacketHeader.of(64, number, 0, PacketHeader.FIRST | PacketHeader.LAST);
                pass(pair, ends.left().small(), ends.right().small(), header, block);
                pass(pair, ends.right().small(), ends.left().small(), header, block);
            });
        }
    }

    private static void pass(Pair pair, BipShortLink from, BipShortLink to, long header, MemorySegment block) {
        assertTrue(from.sendPacket(header, block, 0));
        from.announce();
        while (!to.receivePacket(header, block, 0)) {
            pair.left.poll(); // the sender, too: the system may take a datagram later
            pair.right.poll();
        }
    }

    @Test
    void shouldAllocateNothingForALongMessage() {
        try (Pair pair = new Pair(settings(), settings());
                Arena arena = Arena.ofShared()) {
            Pair.Ends ends = pair.connect("long");
            MemorySegment block = arena.allocate(100_000);
            BufferGroup out = new BufferGroup();
            BufferGroup in = new BufferGroup();
            BufferGroup expected = new BufferGroup();
            assertAllocates(mostBytes(true), 200, number -> {
                long header = PacketHeader.of(100_000, number, 0, PacketHeader.FIRST | PacketHeader.LAST);
                pass(pair, ends.left().large(), ends.right().large(), header, block, out, in, expected);
                pass(pair, ends.right().large(), ends.left().large(), header, block, out, in, expected);
            });
        }
    }

    private static void pass(
            Pair pair,
            BipLongLink from,
            BipLongLink to,
            long header,
            MemorySegment block,
            BufferGroup out,
            BufferGroup in,
            BufferGroup expected) {
        out.add(block, 0, block.byteSize());
        in.add(block, 0, block.byteSize());
        expected.add(block, 0, block.byteSize());
        to.expect(expected);
        expected.clear();
        boolean sent = false;
        while (!sent || !in.isEmpty()) {
            sent = sent || from.send(header, out, 0) == LinkStatus.COMPLETE;
            pair.left.poll();
            pair.right.poll();
            if (to.front() == header && !in.isEmpty()) {
                to.receive(in, in.remainingBytes());
            }
        }
        to.release();
    }
}
