package io.madeleine.tm.sci;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.madeleine.api.BlockLayout;
import io.madeleine.pmm.spi.Blocks;
import io.madeleine.pmm.spi.BufferGroup;
import io.madeleine.pmm.spi.DynamicLink;
import io.madeleine.pmm.spi.LinkStatus;
import io.madeleine.pmm.spi.PacketHeader;
import io.madeleine.pmm.spi.ProcessIdentity;
import io.madeleine.pmm.spi.SessionMemory;
import io.madeleine.pmm.spi.TransmissionLink;
import io.madeleine.tm.sci.files.FileStem;
import io.madeleine.tm.sci.files.SessionDirectory;
import io.madeleine.tm.sci.link.CellLayout;
import io.madeleine.tm.sci.link.Lender;
import io.madeleine.tm.sci.link.PairLayout;
import io.madeleine.tm.sci.link.PairSegment;
import io.madeleine.tm.sci.link.PeerMemory;
import io.madeleine.tm.sci.link.SciConnection;
import io.madeleine.tm.sci.link.SingleCopy;
import io.madeleine.tm.sci.memory.OrderedWords;
import io.madeleine.tm.sci.shared.SharedBlocks;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Loans between two sides in one process, which read its memory as if it were another's. */
class DmaLoanTest {
    private static final int BYTES = 3_000_001;
    private static final long HEADER = PacketHeader.of(BYTES, 0, 0, PacketHeader.FIRST);
    private static final long TRAILER = PacketHeader.of(0, 0, 1, PacketHeader.LAST);

    @TempDir
    Path directory;

    private Side left;
    private Side right;
    private Side.Pair pair;
    private DynamicLink sender;
    private TransmissionLink receiver;
    private MemorySegment memory;
    private CellLayout line;

    @BeforeEach
    void open() {
        assumeTrue(SingleCopy.availability().on(), SingleCopy.availability().reason());
        open(Side.SINGLE_COPY);
    }

    private void open(String settings) {
        left = Side.open(directory, 1, settings);
        right = Side.open(directory, 2, settings);
        pair = Side.Pair.of(left, right, "loans");
        sender = pair.leftRegular();
        receiver = pair.rightRegular();
        PairSegment segment = ((SciConnection) pair.left()).segment();
        memory = segment.memory();
        line = segment.layout().cells().getLast().get(PairLayout.INITIATOR);
    }

    @AfterEach
    void close() {
        if (left != null) {
            left.close();
            right.close();
        }
    }

    private static MemorySegment pattern(Arena arena) {
        MemorySegment block = arena.allocate(BYTES);
        for (int i = 0; i < BYTES; i++) {
            block.set(ValueLayout.JAVA_BYTE, i, (byte) (i * 13 + (i >> 11)));
        }
        return block;
    }

    private boolean isLent() {
        return OrderedWords.acquire(memory, line.state(0)) == CellLayout.LENT;
    }

    private boolean isUntouched() {
        MemorySegment cells = memory.asSlice(line.data(0), line.dataBytes());
        return cells.mismatch(MemorySegment.ofArray(new byte[(int) line.dataBytes()])) == -1;
    }

    /** Sends to the end, receiving into the wanted memory, which the receiver gets. */
    private void finish(BufferGroup group, long trailer, BufferGroup wanted) {
        boolean sent = false;
        for (int round = 0; !sent || !wanted.isEmpty(); round++) {
            sent = sent || sender.send(HEADER, group, trailer) == LinkStatus.COMPLETE;
            if (receiver.front() == HEADER) {
                receiver.receive(wanted, wanted.remainingBytes());
            }
            assertTrue(round < 100_000, "nothing moves any more");
        }
        assertEquals(HEADER, receiver.front());
        receiver.release();
        assertEquals(trailer, receiver.front());
        receiver.release();
        assertEquals(0, receiver.front());
    }

    @Test
    void shouldReadALentBlockWhereItLies() {
        MemorySegment block = pattern(Arena.ofAuto());
        BufferGroup group = Side.group(block);
        MemorySegment target = Arena.ofAuto().allocate(BYTES);
        assertEquals(LinkStatus.PENDING, sender.send(HEADER, group, TRAILER));
        assertTrue(isLent());
        assertEquals(BYTES, group.remainingBytes(), "lent memory counts as sent when it has been read");
        finish(group, TRAILER, Side.group(target));
        assertEquals(-1, target.mismatch(block));
        assertTrue(isUntouched());
        assertFalse(isLent());
    }

    @Test
    void shouldLendManyBlocksOfAGroupToOthersOfOtherSizes() {
        MemorySegment block = pattern(Arena.ofAuto());
        BufferGroup group =
                Side.group(block.asSlice(0, 1_000_000), block.asSlice(1_000_000, 10), block.asSlice(1_000_010));
        MemorySegment target = Arena.ofAuto().allocate(BYTES);
        BufferGroup wanted = Side.group(target.asSlice(0, 7), target.asSlice(7, 1_500_000), target.asSlice(1_500_007));
        finish(group, TRAILER, wanted);
        assertEquals(-1, target.mismatch(block));
    }

    @Test
    void shouldLendLongRangesOfALayoutAndCopyShortOnes() {
        MemorySegment block = pattern(Arena.ofAuto());
        MemorySegment target = Arena.ofAuto().allocate(BYTES);
        for (int rangeBytes : new int[] {8192, 32 * 1024}) {
            int count = BYTES / rangeBytes - 1; // backwards, so that they are ranges
            long last = (long) count * rangeBytes;
            BlockLayout layout = BlockLayout.of(
                    new BlockLayout.Part(block, last, rangeBytes, -rangeBytes, count + 1),
                    new BlockLayout.Part(block, last + rangeBytes, BYTES - last - rangeBytes));
            BufferGroup group = new BufferGroup();
            group.add(layout, 0, BYTES);
            int _ = sender.send(HEADER, group, TRAILER);
            assertEquals(rangeBytes >= Lender.MIN_RANGE_BYTES, isLent());
            finish(group, TRAILER, Side.group(target));
            MemorySegment expected = MemorySegment.ofArray(new byte[BYTES]);
            Blocks.gather(layout, 0, expected, 0, BYTES);
            assertEquals(-1, target.mismatch(expected));
            close();
            open(Side.SINGLE_COPY);
        }
    }

    @Test
    void shouldTakeTheCellsForAllOfABlockThatIsLargerThanTheLargestForSingleCopy() {
        left.close();
        right.close();
        open(Side.SINGLE_COPY.replace("unlimited", "1 MiB"));
        MemorySegment block = pattern(Arena.ofAuto());
        BufferGroup group = Side.group(block);
        MemorySegment target = Arena.ofAuto().allocate(BYTES);
        BufferGroup wanted = Side.group(target);
        while (sender.send(HEADER, group, TRAILER) != LinkStatus.COMPLETE) {
            assertFalse(isLentAnywhere(), () -> group.remainingBytes() + " bytes were left");
            if (receiver.front() == HEADER) {
                receiver.receive(wanted, wanted.remainingBytes());
            }
        }
        while (!wanted.isEmpty()) {
            receiver.receive(wanted, wanted.remainingBytes());
        }
        assertEquals(-1, target.mismatch(block));
    }

    private boolean isLentAnywhere() {
        for (int cell = 0; cell < line.cells(); cell++) {
            if (OrderedWords.acquire(memory, line.state(cell)) == CellLayout.LENT) {
                return true;
            }
        }
        return false;
    }

    @Test
    void shouldTakeTheCellsForMemoryOfTheHeapAtEitherEnd() {
        MemorySegment block = pattern(Arena.ofAuto());
        MemorySegment heap = MemorySegment.ofArray(new byte[BYTES]);
        finish(Side.group(block), TRAILER, Side.group(heap));
        assertEquals(-1, heap.mismatch(block));
        MemorySegment target = Arena.ofAuto().allocate(BYTES);
        finish(Side.group(heap), TRAILER, Side.group(target));
        assertEquals(-1, target.mismatch(block));
        assertFalse(isUntouched());
    }

    @Test
    void shouldDropALoanWithoutReadingIt() {
        BufferGroup group = Side.group(pattern(Arena.ofAuto()));
        long dropped = 0;
        boolean sent = false;
        while (!sent || dropped < BYTES) {
            sent = sent || sender.send(HEADER, group, TRAILER) == LinkStatus.COMPLETE;
            if (receiver.front() == HEADER && dropped < BYTES) {
                dropped += receiver.skip(BYTES - dropped);
            }
        }
        receiver.release();
        assertEquals(TRAILER, receiver.front());
    }

    @Test
    void shouldNotCountWhatWasReadOfMemoryThatWasExchangedMeanwhile() {
        MemorySegment block = pattern(Arena.ofAuto());
        MemorySegment other = Arena.ofAuto().allocate(BYTES).fill((byte) 0x5a);
        MemorySegment target = Arena.ofAuto().allocate(BYTES);
        BufferGroup group = Side.group(block);
        BufferGroup wanted = Side.group(target);
        assertEquals(LinkStatus.PENDING, sender.send(HEADER, group, TRAILER));
        assertEquals(HEADER, receiver.front());
        assertEquals(0, receiver.receive(wanted, BYTES), "what is read counts when it has been granted");
        assertEquals(-1, target.asSlice(0, 4096).mismatch(block.asSlice(0, 4096)));
        group.clear();
        group.add(other, 0, BYTES);
        long aborted = PacketHeader.aborted(TRAILER);
        finish(group, aborted, wanted);
        assertEquals(-1, target.mismatch(other));
    }

    @Test
    void shouldKeepWhatWasGrantedBeforeAnExchange() {
        MemorySegment block = pattern(Arena.ofAuto());
        MemorySegment other = Arena.ofAuto().allocate(BYTES).fill((byte) 0x5a);
        MemorySegment target = Arena.ofAuto().allocate(BYTES);
        BufferGroup group = Side.group(block);
        BufferGroup wanted = Side.group(target);
        sender.send(HEADER, group, TRAILER);
        assertEquals(HEADER, receiver.front());
        receiver.receive(wanted, BYTES);
        sender.send(HEADER, group, TRAILER);
        long granted = BYTES - group.remainingBytes();
        assertNotEquals(0, granted);
        receiver.receive(wanted, BYTES);
        assertEquals(granted, BYTES - wanted.remainingBytes());
        group.clear();
        group.add(other, 0, BYTES - granted);
        finish(group, PacketHeader.aborted(TRAILER), wanted);
        assertEquals(-1, target.asSlice(0, granted).mismatch(block.asSlice(0, granted)));
        assertEquals(-1, target.asSlice(granted).mismatch(other.asSlice(granted)));
    }

    @Test
    @SuppressWarnings("restricted")
    void shouldThrowAtTheSenderWhenLentMemoryHasBeenFreed() {
        Arena arena = Arena.ofShared();
        MemorySegment block = pattern(Arena.ofAuto());
        BufferGroup group = Side.group(block.reinterpret(BYTES, arena, null));
        MemorySegment target = Arena.ofAuto().allocate(BYTES);
        BufferGroup wanted = Side.group(target);
        sender.send(HEADER, group, TRAILER);
        assertEquals(HEADER, receiver.front());
        receiver.receive(wanted, BYTES);
        arena.close();
        receiver.receive(wanted, BYTES); // reads what is not there any more, or refuses
        assertThrows(IllegalStateException.class, () -> sender.send(HEADER, group, TRAILER));
        group.replaceMemory(block.asSlice(0, 4096)); // where the freed memory lay, as an allocator may do
        finish(group, PacketHeader.aborted(TRAILER), wanted);
    }

    @Test
    void shouldThrowAtTheReceiverWhenItsMemoryHasBeenFreed() {
        Arena arena = Arena.ofShared();
        BufferGroup group = Side.group(pattern(Arena.ofAuto()));
        BufferGroup wanted = Side.group(arena.allocate(BYTES));
        sender.send(HEADER, group, TRAILER);
        assertEquals(HEADER, receiver.front());
        receiver.receive(wanted, BYTES);
        arena.close();
        assertThrows(IllegalStateException.class, () -> receiver.receive(wanted, BYTES));
        long dropped = BYTES - wanted.remainingBytes();
        boolean sent = false;
        while (!sent || dropped < BYTES) {
            sent = sent || sender.send(HEADER, group, TRAILER) == LinkStatus.COMPLETE;
            dropped += dropped < BYTES ? receiver.skip(BYTES - dropped) : 0;
        }
        receiver.release();
        assertEquals(TRAILER, receiver.front());
    }

    @Test
    void shouldBreakUpWhenAPeerTakesMoreThanWasLent() {
        Side.Listener listener = new Side.Listener();
        pair.left().start(listener);
        BufferGroup group = Side.group(pattern(Arena.ofAuto()));
        sender.send(HEADER, group, TRAILER);
        for (long taken : List.of(BYTES + 1L, -1L)) {
            OrderedWords.setRelease(memory, line.taken(0), taken);
        }
        assertEquals(LinkStatus.CLOSED, sender.send(HEADER, group, TRAILER));
        left.round();
        assertTrue(listener.lost.contains("sci/dma"), listener.lost);
    }

    @Test
    void shouldBreakUpWhenALoanMakesNoSense() {
        for (int breach = 0; breach < 3; breach++) {
            Side.Pair other = Side.Pair.of(left, right, "breach-" + breach);
            PairSegment segment = ((SciConnection) other.left()).segment();
            CellLayout cells = segment.layout().cells().getLast().get(PairLayout.INITIATOR);
            Side.Listener listener = new Side.Listener();
            other.right().start(listener);
            other.leftRegular().send(HEADER, Side.group(pattern(Arena.ofAuto())), TRAILER);
            switch (breach) {
                case 0 -> OrderedWords.setPlain(segment.memory(), cells.length(0), BYTES + 1L);
                case 1 -> OrderedWords.setPlain(segment.memory(), cells.length(0), 0);
                default -> OrderedWords.setRelease(segment.memory(), cells.granted(0), 1);
            }
            TransmissionLink link = other.rightRegular();
            BufferGroup wanted = Side.group(Arena.ofAuto().allocate(BYTES));
            if (link.front() == HEADER) {
                assertEquals(0, link.receive(wanted, BYTES));
            }
            right.round();
            assertTrue(listener.lost.contains("sci/dma"), listener.lost);
        }
    }

    @Test
    void shouldReadNobodyWhoseMarkIsNotFound() throws Exception {
        PairSegment segment = ((SciConnection) pair.right()).segment();
        long lender = PairLayout.lender(PairLayout.INITIATOR);
        long reads = PairLayout.reads(PairLayout.ACCEPTOR);
        assertEquals(1, OrderedWords.acquire(memory, reads));
        Process ended = new ProcessBuilder("true").start();
        ended.waitFor();
        for (long pid : new long[] {1, ended.pid(), -1, 1L << 40}) {
            OrderedWords.setVolatile(memory, reads, 0);
            OrderedWords.setVolatile(memory, lender, pid);
            SessionDirectory files = SessionDirectory.join(directory, "other", new ProcessIdentity(3, 0));
            SingleCopy copies = SingleCopy.of(
                    true,
                    Long.MAX_VALUE,
                    Long.MAX_VALUE,
                    files,
                    new SharedBlocks(files, SessionMemory.none(), Long.MAX_VALUE),
                    System.getLogger("test"));
            PeerMemory peer = new PeerMemory(segment, new FileStem(new ProcessIdentity(1, 0), 0), copies);
            assertEquals(0, OrderedWords.acquire(memory, reads), "pid " + pid);
            copies.close();
            files.close();
            assertFalse(isLent());
        }
        BufferGroup group = Side.group(pattern(Arena.ofAuto()));
        sender.send(HEADER, group, TRAILER);
        assertFalse(isLent(), "who cannot be read does not lend");
    }

    @Test
    void shouldTakeTheCellsOnceThePermissionIsLost() {
        MemorySegment block = pattern(Arena.ofAuto());
        BufferGroup group = Side.group(block);
        MemorySegment target = Arena.ofAuto().allocate(BYTES);
        sender.send(HEADER, group, TRAILER);
        OrderedWords.setPlain(memory, line.address(0), 4096); // where nothing is: the read fails
        finish(group, TRAILER, Side.group(target));
        assertEquals(-1, target.mismatch(block));
    }
}
