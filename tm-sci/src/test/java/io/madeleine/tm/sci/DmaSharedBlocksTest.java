package io.madeleine.tm.sci;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.pmm.spi.BufferGroup;
import io.madeleine.pmm.spi.DynamicLink;
import io.madeleine.pmm.spi.LinkStatus;
import io.madeleine.pmm.spi.PacketHeader;
import io.madeleine.pmm.spi.Region;
import io.madeleine.pmm.spi.TransmissionLink;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Blocks in memory that peers map: read by one copy with native access and without. */
class DmaSharedBlocksTest {
    private static final int BYTES = 3_000_001;
    private static final long HEADER = PacketHeader.of(BYTES, 0, 0, PacketHeader.FIRST);
    private static final long TRAILER = PacketHeader.of(0, 0, 1, PacketHeader.LAST);

    @TempDir
    Path directory;

    private Arena arena;
    private Side left;
    private Side right;
    private DynamicLink sender;
    private TransmissionLink receiver;
    private MemorySegment memory;
    private CellLayout line;

    @BeforeEach
    void open() {
        left = Side.open(directory, 1);
        right = Side.open(directory, 2);
        arena = left.arenas.newArena();
        Side.Pair pair = Side.Pair.of(left, right, "shared");
        sender = pair.leftRegular();
        receiver = pair.rightRegular();
        assertEquals(SciCellLink.DMA, sender.capabilities().id());
        PairSegment segment = ((SciConnection) pair.left()).segment();
        memory = segment.memory();
        line = segment.layout().cells().getLast().get(PairLayout.INITIATOR);
    }

    @AfterEach
    void close() throws IOException {
        left.close();
        right.close();
        try (Stream<Path> files = Files.walk(directory)) {
            assertEquals(0, files.filter(Files::isRegularFile).count(), "nothing is left");
        }
    }

    private MemorySegment pattern() {
        MemorySegment block = arena.allocate(BYTES);
        assertEquals(BYTES, block.byteSize());
        for (int i = 0; i < BYTES; i++) {
            block.set(ValueLayout.JAVA_BYTE, i, (byte) (i * 13 + (i >> 11)));
        }
        return block;
    }

    private boolean cellsAreUntouched() {
        MemorySegment cells = memory.asSlice(line.data(0), line.dataBytes());
        return cells.mismatch(MemorySegment.ofArray(new byte[(int) line.dataBytes()])) == -1;
    }

    private void transfer(BufferGroup group, BufferGroup wanted) {
        Side.transfer(sender, receiver, HEADER, group, TRAILER, wanted);
    }

    @Test
    void shouldReadThemWhereTheyLieIntoMemoryOfAnyKind() {
        MemorySegment block = pattern();
        for (MemorySegment target :
                new MemorySegment[] {arena.allocate(BYTES), MemorySegment.ofArray(new byte[BYTES])}) {
            transfer(Side.group(block), Side.group(target));
            assertEquals(-1, target.mismatch(block));
        }
        assertTrue(cellsAreUntouched());
    }

    @Test
    void shouldReadPartsOfThemAmongOthers() {
        MemorySegment block = pattern();
        MemorySegment other = pattern();
        MemorySegment heap = MemorySegment.ofArray(new byte[200_000]).copyFrom(block.asSlice(1_500_000, 200_000));
        BufferGroup group = Side.group(
                other.asSlice(0, 1_000_000), block.asSlice(1_000_000, 500_000), heap, block.asSlice(1_700_000));
        MemorySegment target = arena.allocate(BYTES);
        transfer(group, Side.group(target.asSlice(0, 7), target.asSlice(7)));
        assertEquals(-1, target.mismatch(block));
    }

    @Test
    void shouldTakeTheCellsForWhatCannotBeMapped() throws IOException {
        MemorySegment block = pattern();
        try (Stream<Path> files = Files.walk(directory)) {
            for (Path file : files.filter(path -> path.toString().endsWith(SessionDirectory.BLOCK))
                    .toList()) {
                Files.delete(file);
            }
        }
        MemorySegment target = arena.allocate(BYTES);
        transfer(Side.group(block), Side.group(target));
        assertEquals(-1, target.mismatch(block));
        assertFalse(cellsAreUntouched());
    }

    @Test
    void shouldTakeTheCellsWhereAPeerNamesWhatIsNotThere() {
        for (long place :
                new long[] {Long.MIN_VALUE | 77L << 40, Long.MIN_VALUE | BYTES, Long.MIN_VALUE | (1L << 40) - 1, -1}) {
            MemorySegment block = pattern();
            BufferGroup group = Side.group(block);
            assertEquals(LinkStatus.PENDING, sender.send(HEADER, group, TRAILER));
            int lent = 0;
            while (Words.acquire(memory, line.state(lent)) != CellLayout.LENT) {
                lent++;
            }
            Words.setPlain(memory, line.address(lent), place);
            MemorySegment target = arena.allocate(BYTES);
            transfer(group, Side.group(target));
            assertEquals(-1, target.mismatch(block), "place " + place);
        }
    }

    @Test
    void shouldNotCountWhatIsReadOfMemoryThatHasBeenFreed() {
        BufferGroup group = Side.group(pattern());
        assertEquals(LinkStatus.PENDING, sender.send(HEADER, group, TRAILER));
        try (Arena others = Arena.ofShared()) {
            BufferGroup wanted = Side.group(others.allocate(BYTES));
            assertEquals(HEADER, receiver.front());
            receiver.receive(wanted, BYTES);
            arena.close();
            assertThrows(IllegalStateException.class, () -> sender.send(HEADER, group, TRAILER));
            assertEquals(BYTES, wanted.remainingBytes());
        }
    }

    @Test
    void shouldLeaveSmallBlocksAndThoseThatTakeTooMuchRoomToOthers() {
        assertEquals(Region.Kind.ORDINARY, kindOf(left, 12 * 1024 - 1));
        assertEquals(Region.Kind.SHARED, kindOf(left, 12 * 1024));
        assertEquals(Region.Kind.ORDINARY, kindOf(left, (64 << 20) + 1));
        try (Side without = Side.open(directory, 3, "madeleine.tm.sci.dma.shared-blocks = false")) {
            assertEquals(Region.Kind.ORDINARY, kindOf(without, 1 << 20));
        }
    }

    @Test
    void shouldLeaveSmallerBlocksToOthersWhereThereAreMany() {
        for (int i = 0; i < SharedBlocks.MANY_BLOCKS; i++) {
            assertEquals(Region.Kind.SHARED, kindOf(left, 12 * 1024));
        }
        assertEquals(Region.Kind.ORDINARY, kindOf(left, SharedBlocks.LARGE_BYTES - 1));
        assertEquals(Region.Kind.SHARED, kindOf(left, SharedBlocks.LARGE_BYTES));
    }

    @Test
    void shouldHoldNothingOfBlocksThatCameAndWent() throws IOException {
        int rounds = Integer.getInteger("madeleine.test.blocks", 100);
        MemorySegment target = arena.allocate(1 << 20);
        for (int round = 0; round < rounds; round++) {
            try (Arena brief = left.arenas.newArena()) {
                MemorySegment block = left.arenas.own(brief).allocateShared(1 << 20);
                block.set(ValueLayout.JAVA_INT, 0, round);
                long header = PacketHeader.of(1 << 20, 0, 0, PacketHeader.FIRST);
                Side.transfer(sender, receiver, header, Side.group(block), TRAILER, Side.group(target));
                assertEquals(round, target.get(ValueLayout.JAVA_INT, 0));
            }
            assertTrue(blockFiles() <= 1, "files of blocks are left");
            assertTrue(mappings() <= 40, "mappings grow");
        }
        assertTrue(cellsAreUntouched());
    }

    private long blockFiles() throws IOException {
        try (Stream<Path> files = Files.walk(directory)) {
            return files.filter(file -> file.toString().endsWith(SessionDirectory.BLOCK))
                    .count();
        }
    }

    private long mappings() throws IOException {
        try (Stream<String> lines = Files.lines(Path.of("/proc/self/maps"))) {
            return lines.filter(line -> line.contains(directory.toString())).count();
        }
    }

    @Test
    void shouldReadTheNewBlockWhereOneOfTheSameNumberWasBefore() {
        for (int round = 0; round < 3; round++) {
            try (Arena first = left.arenas.newArena()) {
                MemorySegment block = first.allocate(BYTES).fill((byte) round);
                MemorySegment target = Arena.ofAuto().allocate(BYTES);
                transfer(Side.group(block), Side.group(target));
                assertEquals(-1, target.mismatch(block));
            }
        }
        assertTrue(cellsAreUntouched());
    }

    @Test
    void shouldSayWhyThereIsNoRoomForWhatIsToBeShared() {
        MemorySegment block = left.arenas.own(arena).allocateShared(100);
        assertEquals(
                Region.Kind.SHARED, left.arenas.memory().find(block.address()).kind());
        IOException refused = assertThrows(
                IOException.class,
                () -> left.adapter.memorySource().orElseThrow().allocateShared(1L << 50, arena));
        assertTrue(refused.getMessage().contains(SciConfig.ROOT + ".directory"), refused.getMessage());
    }

    private static Region.Kind kindOf(Side side, long bytes) {
        MemorySegment block = side.arenas.lasting().allocate(bytes);
        return side.arenas.memory().find(block.address()).kind();
    }
}
