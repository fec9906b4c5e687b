package io.madeleine.bmm;

import static io.madeleine.bmm.Texts.block;
import static io.madeleine.bmm.Texts.ranges;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.api.BlockLayout;
import io.madeleine.pmm.spi.AggregationMode;
import io.madeleine.pmm.spi.LinkMode;
import io.madeleine.pmm.spi.LinkStatus;
import io.madeleine.pmm.spi.PacketHeader;
import io.madeleine.pmm.spi.Region;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What becomes of the blocks that a link sends without a copy: grouping, order, bounds, the end mark, an abort. */
class DynamicGroupsTest {
    private static final long GIB = PacketHeader.MAX_PAYLOAD_BYTES;

    private final SendLedger ledger = new SendLedger();
    private boolean isMemoryShort;
    private final Staging staging = new Staging(new StagingPool(this::memory));
    private final SendingLink link = new SendingLink(AggregationMode.ASYMMETRIC, LinkMode.BUFFER_GROUP);
    private final SendBmm bmm = SendBmm.forLink(link, ledger, staging);

    private MemorySegment memory(long bytes) {
        if (isMemoryShort) {
            throw new OutOfMemoryError("direct memory, as a test");
        }
        return Arena.ofAuto().allocate(bytes, Long.BYTES);
    }

    private int append(String text) {
        return bmm.append(block(text), 0, text.length(), true, false);
    }

    /** A block of the letter, long enough that the end mark does not go in its packet. */
    private static String large(char letter) {
        return String.valueOf(letter).repeat(1500);
    }

    private static String zeros(int count) {
        return "0".repeat(count);
    }

    private static Region region(MemorySegment memory) {
        return new Region(0, memory, Region.Kind.ORDINARY, "");
    }

    /** Memory of which only what is written takes space. */
    private static MemorySegment map(Path folder, long bytes, Arena arena) throws IOException {
        try (RandomAccessFile file =
                new RandomAccessFile(folder.resolve("large").toFile(), "rw")) {
            file.setLength(bytes);
            return file.getChannel().map(FileChannel.MapMode.READ_ONLY, 0, bytes, arena);
        }
    }

    @Test
    void shouldSendBlocksTogetherInTheirOrderAtCommit() {
        assertFalse(bmm.holdsBlocks());
        assertEquals(LinkStatus.COMPLETE, bmm.flush(), "there is nothing to send");
        assertEquals(LinkStatus.COMPLETE, bmm.append(block("..abc"), 2, 3, true, false));
        assertEquals(LinkStatus.COMPLETE, bmm.append(block(".def"), 1, 3, false, true));
        assertEquals(LinkStatus.COMPLETE, bmm.append(ranges("ghi"), true, true));
        assertEquals(LinkStatus.COMPLETE, bmm.append(ranges("jkl"), false, false));
        assertTrue(bmm.holdsBlocks());
        assertEquals(List.of(), link.sent);
        assertTrue(ledger.isUntouched());
        assertEquals(LinkStatus.COMPLETE, bmm.flush());
        assertEquals(List.of("packet 0 of message 0, 12 bytes, first: abcdefghijkl"), link.sent);
        assertFalse(bmm.holdsBlocks());
        assertEquals(LinkStatus.COMPLETE, append("mn"));
        assertEquals(LinkStatus.COMPLETE, bmm.flush());
        assertEquals("packet 1 of message 0, 2 bytes: mn", link.sent.getLast());
        bmm.announce();
        assertEquals(2, link.sent.size(), "a packet announces itself");
    }

    @Test
    void shouldCopyASaferBlockAndReferenceACheaperOneUntilItHasLeft() {
        MemorySegment cheaper = Arena.ofAuto().allocate(3).copyFrom(block("abc"));
        MemorySegment safer = Arena.ofAuto().allocate(3).copyFrom(block("def"));
        BlockLayout saferRanges = ranges("ghi");
        assertEquals(LinkStatus.COMPLETE, bmm.append(cheaper, 0, 3, true, false));
        assertEquals(LinkStatus.COMPLETE, bmm.append(safer, 0, 3, false, false));
        assertEquals(LinkStatus.COMPLETE, bmm.append(saferRanges, false, false));
        assertTrue(bmm.touches(region(cheaper)));
        assertFalse(bmm.touches(region(safer)));
        safer.fill((byte) '?');
        saferRanges.part(0).segment().fill((byte) '?');
        assertEquals(LinkStatus.COMPLETE, bmm.flush());
        assertFalse(bmm.touches(region(cheaper)));
        assertEquals(List.of("packet 0 of message 0, 9 bytes, first: abcdefghi"), link.sent);
    }

    @Test
    void shouldCopyASaferBlockOnceAndALargeCheaperOneNever() {
        StagingPool pool = new StagingPool();
        SendBmm copying = SendBmm.forLink(link, ledger, new Staging(pool));
        int most = StagingPool.PIECE_BYTES - 1000;
        assertEquals(LinkStatus.COMPLETE, copying.append(MemorySegment.ofArray(new byte[most]), 0, most, false, true));
        assertEquals(LinkStatus.COMPLETE, copying.append(block(large('a')), 0, 1500, true, false));
        assertEquals(LinkStatus.COMPLETE, copying.flush());
        assertEquals(LinkStatus.COMPLETE, copying.append(block(large('b')), 0, 1000, false, false));
        assertEquals(LinkStatus.COMPLETE, copying.flushLast());
        assertEquals(StagingPool.PIECE_BYTES, pool.heldBytes(), "one piece has room for one copy of each");
    }

    @Test
    void shouldSendEachBlockAtOnceOverALinkThatTakesNoGroups() {
        SendingLink single = new SendingLink(AggregationMode.ASYMMETRIC, LinkMode.BUFFER);
        SendBmm eager = SendBmm.forLink(single, ledger, staging);
        assertEquals(LinkStatus.COMPLETE, eager.append(block("abc"), 0, 3, true, false));
        assertEquals(LinkStatus.COMPLETE, eager.append(ranges("def"), false, false));
        assertEquals(
                List.of("packet 0 of message 0, 3 bytes, first: abc", "packet 1 of message 0, 3 bytes: def"),
                single.sent);
        single.room = 10;
        assertEquals(LinkStatus.COMPLETE, eager.append(block("ghi"), 0, 3, true, false), "it is referenced");
        assertFalse(eager.holdsBlocks(), "it has begun to leave");
        assertEquals(LinkStatus.PENDING, eager.append(block("jkl"), 0, 3, true, false));
        assertEquals(LinkStatus.PENDING, eager.append(ranges("jkl"), true, false));
        assertEquals(0, eager.progressBytes());
        single.room = Long.MAX_VALUE;
        assertEquals(LinkStatus.COMPLETE, eager.append(block("jkl"), 0, 3, true, false));
        assertEquals(
                List.of("packet 2 of message 0, 3 bytes: ghi", "packet 3 of message 0, 3 bytes: jkl"),
                single.sent.subList(2, 4));
        single.closed = true;
        assertEquals(LinkStatus.CLOSED, eager.append(block("mno"), 0, 3, true, false));
        assertFalse(eager.abandon());
        SendBmm next = SendBmm.forLink(single, ledger, staging);
        assertEquals(LinkStatus.CLOSED, next.append(ranges("mno"), true, false));
    }

    @Test
    void shouldEndAGroupAtAnExpressBlockIfTheReceiverTakesWholeGroups() {
        SendingLink symmetric = new SendingLink(AggregationMode.SYMMETRIC, LinkMode.BUFFER_GROUP);
        SendBmm groups = SendBmm.forLink(symmetric, ledger, staging);
        assertEquals(LinkStatus.COMPLETE, groups.append(block("abc"), 0, 3, true, false));
        assertEquals(List.of(), symmetric.sent);
        assertEquals(LinkStatus.COMPLETE, groups.append(block("de"), 0, 2, true, true));
        assertEquals(List.of("packet 0 of message 0, 5 bytes, first: abcde"), symmetric.sent);
        assertEquals(LinkStatus.COMPLETE, groups.append(ranges("fg"), true, true));
        assertEquals("packet 1 of message 0, 2 bytes: fg", symmetric.sent.getLast());
        assertEquals(LinkStatus.COMPLETE, groups.append(block(""), 0, 0, true, true));
        assertEquals(2, symmetric.sent.size(), "there is no group to end");
    }

    @Test
    void shouldSplitABlockThatIsTooLongForAPacket(@TempDir Path folder) throws IOException {
        try (Arena arena = Arena.ofShared()) {
            MemorySegment memory = map(folder, 2 * GIB + 5000, arena);
            assertEquals(LinkStatus.COMPLETE, bmm.append(memory, 3, 2 * GIB + 3000, true, false));
            assertEquals(LinkStatus.COMPLETE, append("abc"));
            assertEquals(LinkStatus.COMPLETE, bmm.flush());
            assertEquals(
                    List.of(
                            "packet 0 of message 0, 1073741824 bytes, first: [1073741824 at 3]",
                            "packet 1 of message 0, 1073741824 bytes: [1073741824 at 1073741827]",
                            "packet 2 of message 0, 3003 bytes: [3000 at 2147483651]abc"),
                    link.sent);
        }
    }

    @Test
    void shouldSplitABlockInRangesThatIsTooLongForAPacket(@TempDir Path folder) throws IOException {
        try (Arena arena = Arena.ofShared()) {
            BlockLayout block = BlockLayout.strided(map(folder, 2 * GIB, arena), 0, GIB / 2, GIB / 2 + 4, 3);
            assertEquals(LinkStatus.COMPLETE, bmm.append(block, true, false));
            assertEquals(LinkStatus.COMPLETE, append("abc"));
            assertEquals(LinkStatus.COMPLETE, bmm.flush());
            assertEquals(2, link.sent.size());
            assertTrue(link.sent.getFirst().startsWith("packet 0 of message 0, 1073741824 bytes, first:"));
            assertEquals("packet 1 of message 0, 536870915 bytes: [536870912 at 1073741832]abc", link.sent.getLast());
        }
    }

    @Test
    void shouldGoOnInMovedMemoryWhereAPacketWasFull(@TempDir Path folder) throws IOException {
        try (Arena arena = Arena.ofShared()) {
            MemorySegment memory = map(folder, GIB, arena);
            assertEquals(LinkStatus.COMPLETE, bmm.append(memory, 0, GIB - 10, true, false));
            link.room = 0;
            assertEquals(LinkStatus.PENDING, bmm.append(block("abcdefghijklmno"), 0, 15, false, false));
            assertEquals(10, bmm.progressBytes());
            link.room = Long.MAX_VALUE;
            assertEquals(LinkStatus.COMPLETE, bmm.append(block("#??????????klmno"), 1, 15, false, false));
            assertEquals(0, bmm.progressBytes());
            assertEquals(LinkStatus.COMPLETE, bmm.append(memory, 0, GIB - 10, true, false));
            link.room = 0;
            assertEquals(LinkStatus.PENDING, bmm.append(ranges("abcdefghi"), false, false));
            assertEquals(5, bmm.progressBytes());
            link.room = Long.MAX_VALUE;
            assertEquals(LinkStatus.COMPLETE, bmm.append(ranges("?????fghi"), false, false));
            assertEquals(LinkStatus.COMPLETE, bmm.flush());
            assertEquals(
                    List.of(
                            "packet 0 of message 0, 1073741824 bytes, first: [1073741814 at 0]abcdefghij",
                            "packet 1 of message 0, 1073741824 bytes: klmno[1073741814 at 0]abcde",
                            "packet 2 of message 0, 4 bytes: fghi"),
                    link.sent);
        }
    }

    @Test
    void shouldForgetHowFarAnAbandonedBlockWasTaken(@TempDir Path folder) throws IOException {
        try (Arena arena = Arena.ofShared()) {
            assertEquals(LinkStatus.COMPLETE, bmm.append(map(folder, GIB, arena), 0, GIB - 1, true, false));
            link.closed = true;
            assertEquals(LinkStatus.CLOSED, bmm.append(block("abc"), 0, 3, false, false));
            assertEquals(1, bmm.progressBytes());
            assertFalse(bmm.abandon());
            assertEquals(0, bmm.progressBytes());
        }
    }

    @Test
    void shouldKeepTheOrderAndTheKindsOfManyBlocks() {
        StringBuilder all = new StringBuilder();
        MemorySegment[] blocks = new MemorySegment[50];
        for (int i = 0; i < 50; i++) {
            String text = String.valueOf((char) ('A' + i));
            all.append(text);
            boolean mayKeep = i % 3 == 0;
            if (i / 16 % 2 == 0) {
                blocks[i] = block(text);
                assertEquals(LinkStatus.COMPLETE, bmm.append(blocks[i], 0, 1, mayKeep, false));
            } else {
                BlockLayout ranges = ranges(text);
                blocks[i] = ranges.part(0).segment();
                assertEquals(LinkStatus.COMPLETE, bmm.append(ranges, mayKeep, false));
            }
        }
        for (int i = 0; i < 50; i++) {
            if (i % 3 != 0) {
                blocks[i].fill((byte) '?');
            }
        }
        link.room = 0;
        assertEquals(LinkStatus.PENDING, bmm.flushLast());
        for (MemorySegment block : blocks) {
            block.fill((byte) '?'); // the end mark is on its way: no memory of the user is needed
        }
        link.room = Long.MAX_VALUE;
        assertEquals(LinkStatus.COMPLETE, bmm.flushLast());
        assertEquals(List.of("packet 0 of message 0, 50 bytes, first, last: " + all), link.sent);
    }

    @Test
    void shouldSendAMarkBehindTheBlocksAndOnce() {
        assertEquals(LinkStatus.COMPLETE, append("abc"));
        link.room = 9;
        assertEquals(LinkStatus.PENDING, bmm.flushMark(PacketHeader.LAST));
        link.room = 2; // the blocks, not the mark
        assertEquals(LinkStatus.PENDING, bmm.flushMark(PacketHeader.LAST));
        assertEquals(LinkStatus.PENDING, bmm.flushMark(PacketHeader.LAST));
        assertEquals(List.of("packet 0 of message 0, 3 bytes, first: abc"), link.sent);
        link.room = Long.MAX_VALUE;
        assertEquals(LinkStatus.COMPLETE, bmm.flushMark(PacketHeader.LAST));
        assertEquals("packet 1 of message 0, 0 bytes, last", link.sent.getLast());
        ledger.nextMessage();
        assertEquals(LinkStatus.COMPLETE, bmm.flushMark(0));
        assertEquals("packet 0 of message 1, 0 bytes, first", link.sent.getLast());
        assertEquals(3, link.sent.size());
        link.closed = true;
        assertEquals(LinkStatus.CLOSED, bmm.flushMark(0));
    }

    @Test
    void shouldSendAnAbortMarkOfItsOwnBehindAMarkThatWasUnderWay() {
        link.room = 0;
        assertEquals(LinkStatus.PENDING, bmm.flushMark(0));
        assertFalse(bmm.abandon(), "it is no end mark");
        link.room = Long.MAX_VALUE;
        assertEquals(LinkStatus.COMPLETE, bmm.flush());
        assertEquals(LinkStatus.COMPLETE, bmm.flushMark(PacketHeader.LAST | PacketHeader.ABORT));
        assertEquals(
                List.of("packet 0 of message 0, 0 bytes, first", "packet 1 of message 0, 0 bytes, last, abort"),
                link.sent);
    }

    @Test
    void shouldPutTheEndMarkInASmallLastPacketAndBehindALargerOne() {
        String small = "a".repeat(1024);
        assertEquals(LinkStatus.COMPLETE, append(small));
        assertEquals(LinkStatus.COMPLETE, bmm.flushLast());
        assertEquals(List.of("packet 0 of message 0, 1024 bytes, first, last: " + small), link.sent);
        ledger.nextMessage();
        String large = "b".repeat(1025);
        assertEquals(LinkStatus.COMPLETE, append(large));
        assertEquals(LinkStatus.COMPLETE, bmm.flushLast());
        assertEquals(
                List.of("packet 0 of message 1, 1025 bytes, first: " + large, "packet 1 of message 1, 0 bytes, last"),
                link.sent.subList(1, 3));
        ledger.nextMessage();
        assertEquals(LinkStatus.COMPLETE, bmm.flushLast());
        assertEquals("packet 0 of message 2, 0 bytes, first, last", link.sent.getLast());
        assertEquals(4, link.sent.size());
    }

    @Test
    void shouldSendTheEndMarkBehindThePacketUnderWay() {
        assertEquals(LinkStatus.COMPLETE, append("abc"));
        link.room = 9;
        assertEquals(LinkStatus.PENDING, bmm.flush());
        assertEquals(LinkStatus.PENDING, bmm.flushLast());
        assertFalse(bmm.isCommitted());
        link.room = 2; // the rest of the blocks
        assertEquals(LinkStatus.PENDING, bmm.flushLast());
        assertTrue(bmm.isCommitted());
        assertEquals(LinkStatus.PENDING, bmm.flushLast());
        link.room = Long.MAX_VALUE;
        assertEquals(LinkStatus.COMPLETE, bmm.flushLast());
        assertEquals(
                List.of("packet 0 of message 0, 3 bytes, first: abc", "packet 1 of message 0, 0 bytes, last"),
                link.sent);
    }

    @Test
    void shouldSendTheEndMarkOnceBehindALargePacketThatLeavesInPieces() {
        assertEquals(LinkStatus.COMPLETE, append(large('a')));
        link.room = 100;
        assertEquals(LinkStatus.PENDING, bmm.flushLast());
        link.room = 100;
        assertEquals(LinkStatus.PENDING, bmm.flushLast());
        link.room = Long.MAX_VALUE;
        assertEquals(LinkStatus.COMPLETE, bmm.flushLast());
        assertEquals(
                List.of(
                        "packet 0 of message 0, 1500 bytes, first: " + large('a'),
                        "packet 1 of message 0, 0 bytes, last"),
                link.sent);
    }

    @Test
    void shouldBeCommittedFromWhenNoMemoryOfTheUserIsNeeded() {
        assertEquals(LinkStatus.COMPLETE, append(large('a')));
        assertFalse(bmm.isCommitted());
        link.room = 100;
        assertEquals(LinkStatus.PENDING, bmm.flushLast());
        assertFalse(bmm.isCommitted(), "most of it is still to be read");
        link.room = 1408;
        assertEquals(LinkStatus.PENDING, bmm.flushLast());
        assertTrue(bmm.isCommitted(), "only the end mark has not left");
        assertTrue(bmm.abandon(), "it arrives whole");
        link.room = Long.MAX_VALUE;
        assertEquals(LinkStatus.COMPLETE, bmm.flush());
        assertEquals("packet 1 of message 0, 0 bytes, last", link.sent.getLast());

        ledger.nextMessage();
        assertFalse(bmm.isCommitted());
        assertEquals(LinkStatus.COMPLETE, append("abc"));
        link.room = 0;
        assertEquals(LinkStatus.PENDING, bmm.flushLast());
        assertTrue(bmm.isCommitted(), "its blocks have been copied");
        link.room = Long.MAX_VALUE;
        assertEquals(LinkStatus.COMPLETE, bmm.flushLast());
        ledger.nextMessage();
        assertFalse(bmm.isCommitted(), "this is the next message");
        assertFalse(bmm.abandon(), "nothing of the next message is under way");
    }

    @Test
    void shouldNotSendWhatWasAbandonedBeforeItBeganToLeave() {
        MemorySegment block = Arena.ofAuto().allocate(3);
        assertEquals(LinkStatus.COMPLETE, bmm.append(block, 0, 3, true, false));
        assertFalse(bmm.abandon(), "the caller sends the abort mark");
        assertFalse(bmm.touches(region(block)));
        assertFalse(bmm.holdsBlocks());
        assertEquals(LinkStatus.COMPLETE, bmm.flush());
        assertEquals(List.of(), link.sent);
    }

    @Test
    void shouldTurnTheEndMarkOfAnAbandonedPacketIntoAnAbortMark() {
        assertEquals(LinkStatus.COMPLETE, append(large('a')));
        link.room = 108;
        assertEquals(LinkStatus.PENDING, bmm.flushLast());
        assertTrue(bmm.abandon());
        link.room = Long.MAX_VALUE;
        assertEquals(LinkStatus.COMPLETE, bmm.flush());
        assertEquals(
                List.of(
                        "packet 0 of message 0, 1500 bytes, first: " + "a".repeat(100) + zeros(1400),
                        "packet 1 of message 0, 0 bytes, last, abort"),
                link.sent);
    }

    @Test
    void shouldKnowTheKindOfEachBlockThatIsLeftOfAnAbandonedPacket() {
        MemorySegment[] blocks = {block("aaa"), block("bbb"), block("ccc"), block("ddd"), block("eee"), block("fff")};
        assertEquals(LinkStatus.COMPLETE, bmm.append(blocks[0], 0, 3, true, true));
        assertEquals(LinkStatus.COMPLETE, bmm.append(blocks[1], 0, 3, true, false));
        assertEquals(LinkStatus.COMPLETE, bmm.append(blocks[2], 0, 3, false, false));
        assertEquals(LinkStatus.COMPLETE, bmm.append(blocks[3], 0, 3, true, false));
        assertEquals(LinkStatus.COMPLETE, bmm.append(blocks[4], 0, 3, true, true));
        assertEquals(LinkStatus.COMPLETE, bmm.append(blocks[5], 0, 3, true, false));
        link.room = 12;
        assertEquals(LinkStatus.PENDING, bmm.flush());
        assertFalse(bmm.abandon());
        assertFalse(bmm.abandon(), "it may be repeated");
        for (MemorySegment block : blocks) {
            block.fill((byte) '?');
        }
        link.room = Long.MAX_VALUE;
        assertEquals(LinkStatus.COMPLETE, bmm.flush());
        assertEquals(List.of("packet 0 of message 0, 18 bytes, first: aaab00ccc000eee000"), link.sent);
    }

    @Test
    void shouldFinishAnAbandonedPacketOfAnyNumberOfBlocks() {
        for (int count = 1; count <= 40; count++) {
            StringBuilder expected = new StringBuilder("a");
            for (int i = 0; i < count; i++) {
                assertEquals(LinkStatus.COMPLETE, bmm.append(block("ab"), 0, 2, i % 2 == 0, i % 4 == 0));
                expected.append(i == 0 ? "b" : i % 4 == 2 ? "00" : "ab");
            }
            link.room = PacketHeader.BYTES + 1;
            assertEquals(LinkStatus.PENDING, bmm.flush());
            assertFalse(bmm.abandon());
            link.room = Long.MAX_VALUE;
            assertEquals(LinkStatus.COMPLETE, bmm.flush());
            assertTrue(link.sent.getLast().endsWith(": " + expected), link.sent.getLast());
            ledger.nextMessage();
            staging.reset();
        }
    }

    @Test
    void shouldLeaveEachKindOfRangesInAnAbandonedPacketAsItMustBe() {
        BlockLayout[] blocks = {ranges("abc"), ranges("def"), ranges("ghi")};
        assertEquals(LinkStatus.COMPLETE, bmm.append(blocks[0], true, true));
        assertEquals(LinkStatus.COMPLETE, bmm.append(blocks[1], false, false));
        assertEquals(LinkStatus.COMPLETE, bmm.append(blocks[2], true, false));
        link.room = 9;
        assertEquals(LinkStatus.PENDING, bmm.flush());
        assertFalse(bmm.abandon());
        for (BlockLayout block : blocks) {
            block.part(0).segment().fill((byte) '?');
        }
        link.room = Long.MAX_VALUE;
        assertEquals(LinkStatus.COMPLETE, bmm.flush());
        assertEquals(List.of("packet 0 of message 0, 9 bytes, first: abcdef000"), link.sent);
    }

    @Test
    void shouldAbandonAPacketWhenNativeMemoryIsShort() {
        int bytes = StagingPool.PIECE_BYTES + 1;
        MemorySegment express = Arena.ofAuto().allocate(bytes).fill((byte) 'a');
        assertEquals(LinkStatus.COMPLETE, bmm.append(express, 0, bytes, true, true));
        link.room = PacketHeader.BYTES + 1;
        assertEquals(LinkStatus.PENDING, bmm.flush());
        isMemoryShort = true;
        assertFalse(bmm.abandon());
        assertFalse(bmm.touches(region(express)), "it is the user's again");
        express.fill((byte) '?');
        link.room = Long.MAX_VALUE;
        assertEquals(LinkStatus.COMPLETE, bmm.flush());
        assertEquals("packet 0 of message 0, 65537 bytes, first: a[65536 at 0]", link.sent.getLast());
    }

    @Test
    void shouldReplaceALargeAbandonedBlockByZerosAsOftenAsItIsAbandoned() {
        int bytes = 3 << 20;
        MemorySegment cheaper = Arena.ofAuto().allocate(bytes).fill((byte) 'x');
        assertEquals(LinkStatus.COMPLETE, bmm.append(cheaper, 0, bytes, true, false));
        assertEquals(LinkStatus.COMPLETE, bmm.append(block("abc"), 0, 3, true, true));
        link.room = 0;
        assertEquals(LinkStatus.PENDING, bmm.flush());
        assertTrue(bmm.touches(region(cheaper)));
        assertFalse(bmm.abandon());
        assertFalse(bmm.touches(region(cheaper)), "it is the user's again");
        assertFalse(bmm.abandon());
        link.room = 1 + PacketHeader.BYTES;
        assertEquals(LinkStatus.PENDING, bmm.flush());
        link.room = Long.MAX_VALUE;
        assertEquals(LinkStatus.COMPLETE, bmm.flush());
        String packet = link.sent.getFirst();
        assertTrue(packet.startsWith("packet 0 of message 0, 3145731 bytes, first: 0[65535 at 1]"), packet);
        assertTrue(packet.endsWith("[65536 at 0]abc"), packet);
        assertEquals(LinkStatus.COMPLETE, append("def"));
        assertEquals(LinkStatus.COMPLETE, bmm.flush());
        assertEquals("packet 1 of message 0, 3 bytes: def", link.sent.getLast());
    }

    @Test
    void shouldNotSendWhatAnotherMessageLeftInPlaceOfMemoryThatWasFreed() {
        assertEquals(LinkStatus.COMPLETE, bmm.append(block(large('x')), 0, 1500, false, false));
        assertEquals(LinkStatus.COMPLETE, bmm.flushLast());
        ledger.nextMessage();
        staging.reset();
        try (Arena arena = Arena.ofShared()) {
            MemorySegment express = arena.allocate(1500).fill((byte) 'a');
            assertEquals(LinkStatus.COMPLETE, bmm.append(express, 0, 1500, true, true));
            link.room = 0;
            assertEquals(LinkStatus.PENDING, bmm.flush());
        }
        Thread.currentThread().interrupt(); // as the JVM leaves a thread while whose copy another frees the memory
        assertFalse(bmm.abandon());
        assertFalse(Thread.interrupted(), "nobody has asked for it");
        link.room = Long.MAX_VALUE;
        assertEquals(LinkStatus.COMPLETE, bmm.flush());
        assertEquals("packet 0 of message 1, 1500 bytes, first: " + zeros(1500), link.sent.getLast());
    }

    @Test
    void shouldNotKnowItsStateAfterAnErrorWithinTheLink() {
        assertEquals(LinkStatus.COMPLETE, append("abc"));
        assertFalse(bmm.isStateUnknown());
        link.failure = new OutOfMemoryError();
        assertThrows(OutOfMemoryError.class, bmm::flush);
        assertTrue(bmm.isStateUnknown());
    }

    @Test
    void shouldLeaveABlockToAppendIfItCannotSendAMessageInOnePacket() {
        assertEquals(LinkStatus.PENDING, bmm.sendWhole(block("abc"), 0, 3, false));
        assertTrue(ledger.isUntouched());
        assertEquals(List.of(), link.sent);
    }

    @Test
    void shouldSayThatTheConnectionIsGone() {
        assertEquals(LinkStatus.COMPLETE, append("abc"));
        link.closed = true;
        assertEquals(LinkStatus.CLOSED, bmm.flush());
        assertEquals(LinkStatus.CLOSED, append("def"));
        assertEquals(LinkStatus.CLOSED, bmm.append(ranges("def"), true, false));
        assertEquals(LinkStatus.CLOSED, bmm.flushLast());
        assertEquals(LinkStatus.CLOSED, bmm.flushMark(0));
    }
}
