package io.madeleine.tm.sci;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.pmm.spi.AttachedMemory;
import io.madeleine.pmm.spi.BufferGroup;
import io.madeleine.pmm.spi.DynamicLink;
import io.madeleine.pmm.spi.ExportedMemory;
import io.madeleine.pmm.spi.LinkStatus;
import io.madeleine.pmm.spi.MemorySource;
import io.madeleine.pmm.spi.PacketHeader;
import io.madeleine.pmm.spi.Region;
import io.madeleine.pmm.spi.RegionListener;
import io.madeleine.pmm.spi.RemoteMemory;
import io.madeleine.pmm.spi.TransmissionLink;
import io.madeleine.tm.sci.files.SessionDirectory;
import io.madeleine.tm.sci.link.CellLayout;
import io.madeleine.tm.sci.link.PairLayout;
import io.madeleine.tm.sci.link.PairSegment;
import io.madeleine.tm.sci.link.SciCellLink;
import io.madeleine.tm.sci.link.SciConnection;
import io.madeleine.tm.sci.memory.OrderedWords;
import io.madeleine.tm.sci.memory.SegmentFile;
import io.madeleine.tm.sci.shared.BlockFileLayout;
import io.madeleine.tm.sci.shared.Slab;
import io.madeleine.tm.sci.shared.Slabs;
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
import org.junit.jupiter.api.condition.EnabledIf;
import org.junit.jupiter.api.io.TempDir;

/** Blocks in memory that peers map: read by one copy with native access and without. */
class DmaSharedBlocksTest {
    private static final int BYTES = 3_000_001;
    private static final int SMALL_BYTES = 16 * 1024;
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
        byte[] bytes = new byte[BYTES];
        for (int i = 0; i < BYTES; i++) {
            bytes[i] = (byte) (i * 13 + (i >> 11));
        }
        return block.copyFrom(MemorySegment.ofArray(bytes));
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
            while (OrderedWords.acquire(memory, line.state(lent)) != CellLayout.LENT) {
                lent++;
            }
            OrderedWords.setPlain(memory, line.address(lent), place);
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

    /** Native access reads blocks otherwise, but does not allocate them otherwise. */
    static boolean isToFillSlabs() {
        return Boolean.getBoolean("thorough")
                || !DmaSharedBlocksTest.class.getModule().isNativeAccessEnabled();
    }

    @Test
    @EnabledIf(value = "isToFillSlabs", disabledReason = "with native access, too, only with -Pthorough")
    void shouldLeaveBlocksThatAreNoFilesToOthersWhereThereAreMany() {
        MemorySource source = left.adapter.memorySource().orElseThrow();
        for (int i = 0; i < Slabs.MANY_BLOCKS; i++) {
            assertTrue(source.allocate(12 * 1024, arena).isPresent());
        }
        assertTrue(source.allocate(Slab.MAX_BLOCK_BYTES, arena).isEmpty());
        assertTrue(source.allocate(Slab.MAX_BLOCK_BYTES + 1, arena).isPresent());
    }

    @Test
    void shouldHoldManySmallBlocksInFewFilesThatTheirReadersMapOnce() throws IOException {
        int count = Integer.getInteger("madeleine.test.small-blocks", 1000);
        long before = mappings();
        try (Arena brief = left.arenas.newArena()) {
            MemorySegment[] blocks = new MemorySegment[count];
            for (int i = 0; i < count; i++) {
                blocks[i] = i % 2 == 0
                        ? brief.allocate(SMALL_BYTES)
                        : left.arenas.own(brief).allocateShared(SMALL_BYTES);
                blocks[i].set(ValueLayout.JAVA_INT, 0, i);
            }
            for (int i = 0; i < count; i++) {
                assertEquals(i, readByPeer(blocks[i]));
            }
            long files = count / 200 + 1;
            assertTrue(blockFiles() <= files, blockFiles() + " files");
            assertTrue(mappings() <= 12 * files, mappings() + " mappings");
        }
        assertTrue(blockFiles() <= 1, blockFiles() + " files are left");
        for (int i = 0; i < count; i++) {
            try (Arena brief = left.arenas.newArena()) {
                MemorySegment block = brief.allocate(SMALL_BYTES);
                block.set(ValueLayout.JAVA_INT, 0, i);
                assertEquals(i, readByPeer(block));
            }
        }
        assertTrue(blockFiles() <= 1, blockFiles() + " files are left");
        int _ = right.adapter
                .progress()
                .poll(System.nanoTime() + 1_000_000_000); // when it next looks for what was freed
        assertTrue(mappings() <= before + 3, mappings() + " mappings are left of " + before);
        assertTrue(cellsAreUntouched());
    }

    private int readByPeer(MemorySegment block) {
        MemorySegment target = MemorySegment.ofArray(new int[SMALL_BYTES / Integer.BYTES]);
        long header = PacketHeader.of(SMALL_BYTES, 0, 0, PacketHeader.FIRST);
        Side.transfer(sender, receiver, header, Side.group(block), TRAILER, Side.group(target));
        return target.get(ValueLayout.JAVA_INT, 0);
    }

    @Test
    void shouldHaveZerosWhereABlockWasBefore() {
        long address;
        try (Arena first = left.arenas.newArena()) {
            address = place(first.allocate(SMALL_BYTES).fill((byte) 7));
        }
        MemorySegment second = arena.allocate(SMALL_BYTES);
        assertEquals(address, place(second), "the pages of a block that was freed serve the next");
        assertEquals(-1, second.mismatch(MemorySegment.ofArray(new byte[SMALL_BYTES])));
    }

    @Test
    void shouldGivePagesToNobodyWhileTheirUserCanStillTouchThem() {
        MemorySegment[] others = new MemorySegment[1];
        Arena closing = left.arenas.newArena();
        MemorySegment block = closing.allocate(SMALL_BYTES).fill((byte) 7);
        RegionListener listener = new RegionListener() {
            @Override
            public void added(Region region) {
                // it is known
            }

            @Override
            public void removed(Region region, long deadlineNs) {
                others[0] = arena.allocate(SMALL_BYTES);
                block.fill((byte) 8); // its user's mistake
            }
        };
        left.arenas.memory().listen(listener);
        closing.close();
        left.arenas.memory().forget(listener);
        assertEquals(-1, others[0].mismatch(MemorySegment.ofArray(new byte[SMALL_BYTES])));
    }

    @Test
    void shouldGivePagesToNobodyWhileAPeerMayStillWriteToThem() throws IOException {
        try (Arena other = left.arenas.newArena()) {
            MemorySegment kept = other.allocate(SMALL_BYTES);
            long place;
            try (Arena first = left.arenas.newArena()) {
                MemorySegment block = left.arenas.own(first).allocateShared(SMALL_BYTES);
                place = place(block);
                ExportedMemory _ =
                        left.adapter.remoteMemory().orElseThrow().export(block, RemoteMemory.Access.READ_WRITE);
                try (Arena peers = Arena.ofShared()) {
                    MemorySegment file = SegmentFile.open(onlyBlockFile(), 1, Long.MAX_VALUE, peers);
                    OrderedWords.setVolatile(file, BlockFileLayout.users(file, 0), 1); // and is killed
                }
            }
            MemorySegment next = other.allocate(SMALL_BYTES);
            assertNotEquals(place, place(next));
            assertNotEquals(place(kept), place(next));
            assertEquals(1, blockFiles());
        }
        assertEquals(0, blockFiles(), "a file with spoilt pages is not kept");
    }

    @Test
    void shouldNotRevokeWhatAnotherHasExportedSince() {
        RemoteMemory owner = left.adapter.remoteMemory().orElseThrow();
        ExportedMemory old;
        try (Arena first = left.arenas.newArena()) {
            old = owner.export(left.arenas.own(first).allocateShared(SMALL_BYTES), RemoteMemory.Access.READ_WRITE);
        }
        MemorySegment block = left.arenas.own(arena).allocateShared(SMALL_BYTES);
        ExportedMemory fresh = owner.export(block, RemoteMemory.Access.READ_WRITE);
        old.close();
        try (AttachedMemory attached =
                right.adapter.remoteMemory().orElseThrow().attach(fresh.descriptor())) {
            assertEquals(SMALL_BYTES, attached.bytes());
        }
    }

    /** The file and the offset in it. */
    private long place(MemorySegment block) {
        return ((SciAdapter) left.adapter).singleCopy().blocks().place(block.address(), block.byteSize());
    }

    private Path onlyBlockFile() throws IOException {
        try (Stream<Path> files = Files.walk(directory)) {
            return files.filter(file -> file.toString().endsWith(SessionDirectory.BLOCK))
                    .findAny()
                    .orElseThrow();
        }
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
