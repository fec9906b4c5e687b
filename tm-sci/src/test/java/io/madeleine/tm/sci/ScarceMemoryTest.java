package io.madeleine.tm.sci;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.pmm.spi.BufferGroup;
import io.madeleine.pmm.spi.LinkStatus;
import io.madeleine.pmm.spi.PacketHeader;
import io.madeleine.pmm.spi.StaticLink;
import io.madeleine.tm.sci.link.SciConnection;
import io.madeleine.tm.sci.memory.OrderedWords;
import io.madeleine.tm.sci.wake.InboxLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Sessions in the 64 MiB of shared memory that a container has. What stands for the processes are adapters in one JVM:
 * the files, mappings and bells are those of so many processes.
 */
class ScarceMemoryTest {
    private static final int BLOCK_BYTES = 10_000;

    @TempDir
    Path directory;

    /** Opens sides, connects all of them by so many channels, and has each send each a message on either link. */
    private List<Side.Pair> allToAll(List<Side> sides, int count, int channels, String settings) {
        for (int id = 0; id < count; id++) {
            sides.add(Side.open(directory, id, settings));
        }
        List<Side.Pair> pairs = new ArrayList<>();
        for (int channel = 0; channel < channels; channel++) {
            for (int low = 0; low < count; low++) {
                for (int high = low + 1; high < count; high++) {
                    Side.Pair pair = Side.Pair.of(sides.get(low), sides.get(high), "channel " + channel);
                    exchange(pair, pairs.size());
                    exchange(new Side.Pair(pair.right(), pair.left()), pairs.size());
                    pairs.add(pair);
                }
            }
        }
        return pairs;
    }

    private static void exchange(Side.Pair pair, int number) {
        StaticLink small = pair.leftShort();
        small.memory().set(ValueLayout.JAVA_LONG_UNALIGNED, small.claim(), number);
        small.commit(PacketHeader.of(Long.BYTES, 0, 0, PacketHeader.FIRST));
        MemorySegment target = MemorySegment.ofArray(new long[1]);
        assertEquals(Long.BYTES, PacketHeader.payloadBytes(pair.rightShort().front()));
        pair.rightShort().receive(Side.group(target), Long.BYTES);
        pair.rightShort().release();
        assertEquals(number, target.get(ValueLayout.JAVA_LONG_UNALIGNED, 0));

        MemorySegment block = MemorySegment.ofArray(new byte[BLOCK_BYTES]).fill((byte) number);
        MemorySegment received = MemorySegment.ofArray(new byte[BLOCK_BYTES]);
        BufferGroup out = Side.group(block);
        BufferGroup in = Side.group(received);
        long header = PacketHeader.of(BLOCK_BYTES, 0, 1, PacketHeader.LAST);
        int status = LinkStatus.PENDING;
        while (status == LinkStatus.PENDING || !in.isEmpty()) {
            status = status == LinkStatus.PENDING ? pair.leftRegular().send(header, out, 0) : status;
            assertEquals(header, pair.rightRegular().front());
            pair.rightRegular().receive(in, in.remainingBytes());
        }
        pair.rightRegular().release();
        assertEquals(-1, block.mismatch(received));
    }

    private static long bytes(Side.Pair pair) {
        return ((SciConnection) pair.left()).segment().memory().byteSize();
    }

    @Test
    void shouldHoldEightProcessesOfFullSize() throws Exception {
        List<Side> sides = new ArrayList<>();
        try (SmallFileSystem fileSystem = SmallFileSystem.mount(directory, "size=64m")) {
            List<Side.Pair> pairs = allToAll(sides, 8, 1, "madeleine.tm.sci.dma.single-copy = off");
            assertEquals(
                    1,
                    pairs.stream().mapToLong(ScarceMemoryTest::bytes).distinct().count());
            assertTrue(fileSystem.usedBytes() <= 64L << 20);
            sides.forEach(Side::close);
        }
    }

    @Test
    void shouldHoldSixtyFourProcessesByConfiguration() throws Exception {
        List<Side> sides = new ArrayList<>();
        String settings = Files.readString(Path.of("..", "conf", "many-processes.conf"));
        try (SmallFileSystem fileSystem = SmallFileSystem.mount(directory, "size=64m")) {
            List<Side.Pair> pairs = allToAll(sides, 64, 1, settings);
            assertEquals(64 * 63 / 2, pairs.size());
            assertEquals(
                    pairs.size() * bytes(pairs.getFirst()) + 64 * (InboxLayout.BYTES + OrderedWords.PAGE_BYTES),
                    fileSystem.usedBytes(),
                    "memory is what the connections take, and nothing else");
            sides.forEach(Side::close);
            assertEquals(0, fileSystem.usedBytes());
        }
    }

    @Test
    void shouldMakeSmallerSegmentsWhereFullOnesWouldNotFit() throws Exception {
        List<Side> sides = new ArrayList<>();
        try (SmallFileSystem fileSystem = SmallFileSystem.mount(directory, "size=64m")) {
            List<Side.Pair> pairs = allToAll(sides, 8, 3, "");
            long full = bytes(pairs.getFirst());
            long last = bytes(pairs.getLast());
            assertTrue(pairs.size() * full > 64L << 20);
            assertTrue(last < full, last + " of " + full);
            assertTrue(fileSystem.usedBytes() < 64L << 20, "something is left for connections to come");
            sides.forEach(Side::close);
        }
    }
}
