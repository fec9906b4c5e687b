package io.madeleine.bmm;

import static io.madeleine.bmm.Texts.text;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.api.BlockLayout;
import io.madeleine.pmm.spi.AggregationMode;
import io.madeleine.pmm.spi.LinkStatus;
import io.madeleine.pmm.spi.PacketHeader;
import io.madeleine.pmm.spi.Region;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import org.junit.jupiter.api.Test;

/** How blocks get their data: when, from which packets, in one call or posted, and what is left after a failure. */
class ReceivedBlocksTest {
    private static final int FIRST = PacketHeader.FIRST;
    private static final int LAST = PacketHeader.LAST;

    private final ReceiveLedger ledger = new ReceiveLedger();
    private final ArrivingPackets link = new ArrivingPackets(AggregationMode.ASYMMETRIC);
    private final ReceiveBmm bmm = new ReceiveBmm(link, ledger);
    private final ArrivingPackets symmetric = new ArrivingPackets(AggregationMode.SYMMETRIC);
    private final ReceiveBmm groups = new ReceiveBmm(symmetric, ledger);
    private final ArrivingPackets.Posting posting = new ArrivingPackets.Posting(AggregationMode.ASYMMETRIC);
    private final ReceiveBmm posted = new ReceiveBmm(posting, ledger);
    private final MemorySegment memory = MemorySegment.ofArray(new byte[40]).fill((byte) '.');

    /** What is in the memory up to here. */
    private String filled(int bytes) {
        return text(memory.asSlice(0, bytes));
    }

    private static MemorySegment freed() {
        try (Arena arena = Arena.ofShared()) {
            return arena.allocate(16);
        }
    }

    @Test
    void shouldFillBlocksInTheirOrder() {
        bmm.append(memory, 0, 3);
        bmm.append(BlockLayout.strided(memory, 4, 1, 2, 3));
        bmm.append(memory, 10, 2);
        assertEquals(8, bmm.missingBytes());
        assertFalse(bmm.isDrained());
        assertFalse(bmm.isCheckedOut());
        assertEquals(0, bmm.extract(), "nothing has arrived");
        link.add(0, FIRST, "abcdefgh");
        assertEquals(9, bmm.extract(), "eight bytes and a packet");
        assertEquals("abc.d.e.f.gh.", filled(13));
        assertEquals(0, bmm.missingBytes());
        assertTrue(bmm.isDrained());
        assertTrue(bmm.isCheckedOut());
        assertEquals(0, link.count(), "its buffer has been released");
        assertEquals(1, ledger.foundCount());
    }

    @Test
    void shouldFillPartsAsTheyArriveFromALinkThatAllowsIt() {
        bmm.append(memory, 0, 3);
        bmm.append(BlockLayout.strided(memory, 3, 1, 1, 7));
        link.add(0, FIRST, "abcdefghij");
        link.arrived(4);
        assertEquals(4, bmm.extract());
        assertEquals("abcd.", filled(5));
        assertEquals(6, bmm.missingBytes());
        assertEquals(6, bmm.untakenBytes());
        assertFalse(bmm.isCheckedOut());
        assertEquals(0, bmm.extract());
        link.arrived(10);
        assertEquals(7, bmm.extract());
        assertEquals("abcdefghij.", filled(11));
        assertEquals(0, bmm.untakenBytes());
    }

    @Test
    void shouldTakeAPacketInTheBlocksThatTheReceiverChooses() {
        link.add(0, FIRST, "abcdef");
        bmm.append(memory, 0, 2);
        assertEquals(2, bmm.extract());
        assertTrue(bmm.isDrained());
        assertTrue(bmm.holdsUnclaimedPayload());
        assertEquals(4, bmm.untakenBytes());
        bmm.append(memory, 2, 4);
        assertFalse(bmm.holdsUnclaimedPayload(), "a block has asked for it");
        assertFalse(bmm.holdsLargerGroup());
        assertEquals(5, bmm.extract());
        assertEquals("abcdef.", filled(7));
    }

    @Test
    void shouldFillABlockFromSeveralPacketsAndEnterTheEndMark() {
        link.add(0, FIRST, "abc");
        link.add(1, 0, "de");
        link.add(2, 0, "");
        link.add(3, LAST, "");
        bmm.append(memory, 0, 5);
        assertEquals(9, bmm.extract(), "five bytes and four packets");
        assertEquals("abcde.", filled(6));
        assertTrue(ledger.isEnded());
        assertEquals(0, link.count());
    }

    @Test
    void shouldFillWholeGroupsOnlyWhereBothEndsMustAgreeOnThem() {
        symmetric.add(0, FIRST, "abc");
        symmetric.add(1, 0, "defgh");
        groups.append(memory, 0, 3);
        assertEquals(0, groups.extract(), "the group may grow");
        assertEquals("...", filled(3));
        assertEquals(3, groups.missingBytes());
        groups.checkOut();
        groups.append(memory, 3, 4);
        groups.append(BlockLayout.strided(memory, 7, 1, 1, 1));
        assertEquals(4, groups.extract());
        assertEquals("abc.....", filled(8));
        assertTrue(groups.isCheckedOut());
        assertFalse(groups.isDrained(), "two blocks have not been checked out");
        groups.checkOut();
        assertFalse(groups.isCheckedOut());
        assertFalse(groups.holdsLargerGroup());
        assertEquals(6, groups.extract());
        assertFalse(groups.holdsLargerGroup());
        assertEquals("abcdefgh.", filled(9));
    }

    @Test
    void shouldEnterNoPacketForBlocksThatAreNotCheckedOut() {
        symmetric.add(0, FIRST, "");
        symmetric.add(1, 0, "abc");
        groups.append(memory, 0, 3);
        assertEquals(0, groups.extract());
        assertEquals(2, symmetric.count());
        groups.checkOut();
        assertEquals(5, groups.extract(), "three bytes and two packets");
    }

    @Test
    void shouldNotCallAGroupLargerThanOneThatMayStillGrow() {
        symmetric.add(0, FIRST, "abcd");
        assertEquals(0, groups.passMarks(), "the packet has been seen");
        assertFalse(groups.holdsLargerGroup());
        groups.append(memory, 0, 3);
        assertFalse(groups.holdsLargerGroup());
        groups.append(memory, 3, 1);
        groups.checkOut();
        assertFalse(groups.holdsLargerGroup(), "they are equal");
        assertEquals(5, groups.extract());
    }

    @Test
    void shouldTakeAGroupThatLeftInSeveralPackets() {
        symmetric.add(0, FIRST, "abc");
        groups.append(memory, 0, 5);
        groups.checkOut();
        assertEquals(4, groups.extract());
        symmetric.add(1, 0, "de");
        assertEquals(3, groups.extract());
        assertEquals("abcde.", filled(6));
    }

    @Test
    void shouldCountWhatItTookBeforeALargerGroup() {
        symmetric.add(0, FIRST, "abc");
        symmetric.add(1, 0, "defg");
        groups.append(memory, 0, 5);
        groups.checkOut();
        assertEquals(4, groups.extract(), "three bytes and a packet");
        assertTrue(groups.holdsLargerGroup());
        assertFalse(groups.isCheckedOut());
    }

    @Test
    void shouldWaitWithAnEndMarkThatOvertookABlockOfItsOwnLink() {
        link.add(3, LAST, "");
        bmm.append(memory, 0, 3);
        assertEquals(0, bmm.extract());
        assertTrue(bmm.holdsMark());
        assertFalse(ledger.isEnded());
        assertEquals(1, link.count());
        posting.add(0, FIRST, "abc");
        posting.add(1, 0, "");
        posting.add(2, 0, "");
        posted.append(memory, 3, 3);
        assertEquals(6, posted.extract());
        assertEquals(1, bmm.extract(), "the mark is entered, and the block stays without data");
        assertTrue(ledger.isEnded());
        assertFalse(bmm.isDrained());
        assertFalse(bmm.holdsMark());
    }

    @Test
    void shouldCountWhatItTookBeforeAnEndMarkThatComesTooEarly() {
        link.add(0, FIRST, "ab");
        link.add(3, LAST, "");
        bmm.append(memory, 0, 5);
        assertEquals(3, bmm.extract(), "two bytes and a packet");
        assertTrue(bmm.holdsMark());
        bmm.forgetBlocks();
        assertFalse(bmm.holdsUnclaimedPayload(), "a mark has none");
        assertFalse(bmm.holdsOverduePayload());
    }

    @Test
    void shouldSeeAnAbortBehindPacketsThatAreMissing() {
        link.add(3, LAST | PacketHeader.ABORT, "");
        bmm.append(memory, 0, 3);
        assertFalse(ledger.isAborted());
        assertEquals(1, bmm.extract());
        assertTrue(ledger.isAborted());
        assertFalse(ledger.isEnded(), "the packets before it are still to be dropped");
    }

    @Test
    void shouldNotTouchTheNextMessage() {
        link.add(0, FIRST | LAST, "abc");
        link.add(PacketHeader.of(3, 1, 0, FIRST | LAST), "def");
        bmm.append(memory, 0, 6);
        assertEquals(4, bmm.extract());
        assertEquals("abc...", filled(6));
        assertEquals(0, bmm.drop());
        assertEquals(0, bmm.passMarks());
        assertFalse(bmm.holdsUnclaimedPayload());
        bmm.forgetBlocks();
        assertTrue(bmm.isDrained());
        assertTrue(bmm.isCheckedOut());
        ledger.nextMessage();
        bmm.append(memory, 3, 3);
        assertEquals(4, bmm.extract());
        assertEquals("abcdef", filled(6));
    }

    @Test
    void shouldNotTakeAMessageThatOvertakesTheRestOfThisOne() {
        link.add(PacketHeader.of(3, 1, 1, 0), "def"); // the packets before it go by another link
        bmm.append(memory, 0, 3);
        assertEquals(0, bmm.extract());
        bmm.forgetBlocks();
        assertFalse(bmm.takeWhole(memory, 0, 3));
        assertEquals(0, bmm.drop());
        assertEquals(0, bmm.untakenBytes());
        assertEquals(1, link.count());
    }

    @Test
    void shouldTakeNothingFromAClosedLink() {
        link.closed = true;
        bmm.append(memory, 0, 3);
        assertEquals(0, bmm.extract());
        assertEquals(0, bmm.passMarks());
        assertEquals(0, bmm.drop());
        assertFalse(bmm.holdsMark());
        bmm.forgetBlocks();
        assertFalse(bmm.holdsUnclaimedPayload());
        assertFalse(bmm.takeWhole(memory, 0, 3));
        assertFalse(bmm.takeMessage(memory, 0, 3));
    }

    @Test
    void shouldDropWhatArrives() {
        assertEquals(0, bmm.drop());
        link.add(0, FIRST, "abcdef");
        link.add(1, 0, "");
        link.add(2, LAST, "ghi");
        link.arrived(4);
        assertEquals(4, bmm.drop());
        assertEquals(2, bmm.untakenBytes());
        assertEquals(0, bmm.drop());
        assertTrue(bmm.holdsUnclaimedPayload());
        link.arrived(6);
        assertEquals(8, bmm.drop(), "five bytes and three packets");
        assertTrue(ledger.isEnded());
        assertEquals(0, bmm.untakenBytes());
        assertFalse(bmm.holdsMark());
        assertFalse(bmm.holdsUnclaimedPayload());
    }

    @Test
    void shouldFillABlockAtOnceIfAllItsBytesAreThere() {
        assertFalse(bmm.takeWhole(memory, 1, 3), "nothing is there");
        link.add(0, FIRST, "abcdef");
        link.arrived(2);
        assertFalse(bmm.takeWhole(memory, 1, 3));
        assertEquals("....", filled(4));
        link.arrived(6);
        assertTrue(bmm.takeWhole(memory, 1, 3));
        assertEquals(".abc.", filled(5));
        assertEquals(3, bmm.untakenBytes());
        assertFalse(bmm.takeWhole(memory, 4, 4), "longer than the rest of the packet");
        assertTrue(bmm.takeWhole(memory, 4, 3));
        assertEquals(".abcdef.", filled(8));
        assertTrue(bmm.isDrained());
        assertEquals(0, link.count());
        link.add(1, LAST, "g");
        assertTrue(bmm.takeWhole(memory, 7, 1));
        assertTrue(ledger.isEnded());
    }

    @Test
    void shouldNotFillABlockBeforeThoseThatWait() {
        bmm.append(memory, 0, 2);
        link.add(0, FIRST, "abcd");
        assertFalse(bmm.takeWhole(memory, 2, 2));
        assertEquals(2, bmm.extract());
        assertTrue(bmm.takeWhole(memory, 2, 2));
        assertEquals("abcd", filled(4));
    }

    @Test
    void shouldNotFillABlockAtOnceBeforeItsGroupIsKnown() {
        symmetric.add(0, FIRST, "abcd");
        assertFalse(groups.takeWhole(memory, 0, 4));
        assertEquals("....", filled(4));
    }

    @Test
    void shouldTakeNothingForABlockWhoseMemoryWasFreed() {
        MemorySegment gone = freed();
        link.add(0, FIRST | LAST, "abcd");
        assertThrows(IllegalStateException.class, () -> bmm.takeWhole(gone, 0, 4));
        assertThrows(IllegalStateException.class, () -> bmm.takeMessage(gone, 0, 4));
        assertFalse(bmm.isStateUnknown());
        assertTrue(bmm.takeWhole(memory, 0, 4));
        assertEquals("abcd", filled(4));
        assertTrue(ledger.isEnded());
    }

    @Test
    void shouldTakeAMessageOfOnePacketInOneStep() {
        assertFalse(bmm.takeMessage(memory, 0, 3), "nothing is there");
        link.add(0, FIRST | LAST, "abc");
        assertFalse(bmm.takeMessage(memory, 0, 2), "of another length");
        link.arrived(2);
        assertFalse(bmm.takeMessage(memory, 0, 3));
        assertEquals("...", filled(3));
        link.arrived(3);
        assertTrue(bmm.takeMessage(memory, 1, 3));
        assertEquals(".abc.", filled(5));
        assertEquals(0, link.count());
        link.add(PacketHeader.of(0, 1, 0, FIRST | LAST), "");
        assertTrue(bmm.takeMessage(memory, 0, 0), "the ledger is at the next message");
        assertEquals(0, link.count());
        link.add(PacketHeader.of(3, 2, 0, FIRST), "def");
        assertFalse(bmm.takeMessage(memory, 0, 3), "more packets follow");
        assertEquals(4, bmm.drop());
    }

    @Test
    void shouldTakeAMessageInOneStepThatWasSeenBefore() {
        link.add(0, FIRST | LAST, "abc");
        assertEquals(0, bmm.passMarks());
        assertTrue(bmm.holdsUnclaimedPayload());
        assertTrue(bmm.takeMessage(memory, 0, 3));
        assertFalse(bmm.holdsUnclaimedPayload());
        assertEquals(0, bmm.untakenBytes());
        link.add(PacketHeader.of(2, 1, 0, FIRST | LAST), "de");
        bmm.append(memory, 3, 2);
        assertEquals(3, bmm.extract());
        assertEquals("abcde", filled(5));
    }

    @Test
    void shouldNotTakeAPacketForABlockThatIsLongerThanAnyPacket() {
        link.add(0, FIRST | LAST, "abcde");
        assertFalse(bmm.takeMessage(memory, 0, (1L << 32) + 5));
        assertTrue(bmm.takeMessage(memory, 0, 5));
    }

    @Test
    void shouldLeaveAMessageInOneStepToALinkThatCan() {
        Buffers.OneStep able = new Buffers.OneStep(AggregationMode.SYMMETRIC);
        ReceiveBmm inOneStep = new ReceiveBmm(able, ledger);
        assertFalse(inOneStep.takeMessage(memory, 0, 3));
        able.arrived = "abc";
        assertFalse(inOneStep.takeMessage(memory, 0, 2));
        assertTrue(inOneStep.takeMessage(memory, 1, 3));
        assertEquals(".abc.", filled(5));
        assertEquals(
                List.of(
                        "asked for packet 0 of message 0, 3 bytes, first, last",
                        "asked for packet 0 of message 0, 2 bytes, first, last",
                        "asked for packet 0 of message 0, 3 bytes, first, last"),
                able.sent);
        assertFalse(inOneStep.takeMessage(memory, 1, 3));
        assertEquals("asked for packet 0 of message 1, 3 bytes, first, last", able.sent.getLast());
    }

    @Test
    void shouldRepeatACallAfterAnErrorThatTookNothing() {
        link.add(0, FIRST | LAST, "abc");
        bmm.append(memory, 0, 3);
        link.failure = new OutOfMemoryError();
        assertThrows(OutOfMemoryError.class, bmm::extract);
        link.failure = null;
        link.arrived(1);
        assertEquals(1, bmm.extract());
        link.failure = new OutOfMemoryError();
        assertThrows(OutOfMemoryError.class, bmm::extract, "the group says how far it is");
        assertFalse(bmm.isStateUnknown());
        link.failure = null;
        link.arrived(3);
        assertEquals(3, bmm.extract());
        assertEquals("abc", filled(3));
    }

    @Test
    void shouldNotKnowItsStateAfterAnErrorWithinThePacketInFront() {
        link.add(0, FIRST, "abc");
        assertEquals(0, bmm.passMarks());
        link.failure = new OutOfMemoryError();
        assertThrows(OutOfMemoryError.class, () -> bmm.takeWhole(memory, 0, 3));
        assertTrue(bmm.isStateUnknown());

        symmetric.add(1, 0, "abc");
        assertEquals(0, groups.passMarks());
        symmetric.failure = new OutOfMemoryError();
        assertThrows(OutOfMemoryError.class, groups::drop);
        assertTrue(groups.isStateUnknown());
        assertFalse(posted.isStateUnknown(), "another link");
    }

    @Test
    void shouldNotKnowItsStateAfterAnErrorInARelease() {
        link.add(3, LAST, "");
        assertEquals(0, bmm.passMarks(), "the mark has overtaken others");
        symmetric.add(0, FIRST, "");
        symmetric.add(1, 0, "");
        symmetric.add(2, 0, "");
        assertEquals(3, groups.passMarks());
        link.failure = new OutOfMemoryError();
        assertThrows(OutOfMemoryError.class, bmm::passMarks);
        assertTrue(bmm.isStateUnknown());
        assertFalse(groups.isStateUnknown());
    }

    @Test
    void shouldKnowWhichMemoryStillWaits() {
        MemorySegment block = Arena.ofAuto().allocate(3);
        Region region = new Region(0, block, Region.Kind.ORDINARY, "");
        assertFalse(bmm.touches(region));
        bmm.append(block, 0, 3);
        assertTrue(bmm.touches(region));
        link.add(0, FIRST, "abc");
        assertEquals(4, bmm.extract());
        assertFalse(bmm.touches(region));
        bmm.append(block, 0, 3);
        bmm.forgetBlocks();
        assertFalse(bmm.touches(region), "the user has it back");
    }

    @Test
    void shouldPostEachBlockOnceAndInOrder() {
        assertTrue(posted.posts());
        posted.append(memory, 0, 10);
        posting.add(0, FIRST, "abcdefghijklm");
        posting.arrived(4);
        assertEquals(4, posted.extract());
        assertEquals(List.of("6 at 4"), posting.expected, "what has not arrived yet");
        assertEquals(0, posted.extract());
        posted.append(memory, 20, 3);
        posted.append(memory, 30, 2);
        assertEquals(0, posted.extract());
        assertEquals(List.of("6 at 4", "3 at 20, 2 at 30"), posting.expected);
        posting.arrived(11);
        assertEquals(7, posted.extract());
        posted.append(memory, 35, 1);
        assertEquals(0, posted.extract());
        assertEquals(List.of("6 at 4", "3 at 20, 2 at 30", "1 at 35"), posting.expected);
        posting.arrived(13);
        assertEquals(3, posted.extract());
        posting.add(1, LAST, "nop");
        assertEquals(4, posted.extract());
        assertEquals("abcdefghij..........klm.......no...p.", filled(37));
        assertEquals(3, posting.expected.size());
    }

    @Test
    void shouldPostNothingThatHasArrivedOrCannotArriveAnyMore() {
        posting.add(0, FIRST | LAST, "abc");
        posted.append(memory, 0, 5);
        assertEquals(4, posted.extract());
        assertEquals(List.of(), posting.expected, "the message has ended");
        assertEquals(2, posted.missingBytes());
    }

    @Test
    void shouldPostOnlyBlocksThatAreCheckedOut() {
        ArrivingPackets.Posting grouping = new ArrivingPackets.Posting(AggregationMode.SYMMETRIC);
        ReceiveBmm inGroups = new ReceiveBmm(grouping, ledger);
        inGroups.append(memory, 0, 10);
        assertEquals(0, inGroups.extract());
        assertEquals(List.of(), grouping.expected);
        inGroups.checkOut();
        inGroups.append(memory, 20, 3);
        assertEquals(0, inGroups.extract());
        assertEquals(List.of("10 at 0"), grouping.expected);
        inGroups.checkOut();
        assertEquals(0, inGroups.extract());
        assertEquals(List.of("10 at 0", "3 at 20"), grouping.expected);
    }

    @Test
    void shouldTakePostedBlocksBack() {
        posted.append(memory, 0, 10);
        assertEquals(0, posted.extract());
        posted.forgetBlocks();
        posting.retracted = LinkStatus.PENDING;
        assertEquals(LinkStatus.PENDING, posted.retract(), "the link may still write to it");
        posting.retracted = LinkStatus.COMPLETE;
        assertEquals(LinkStatus.COMPLETE, posted.retract());
        assertEquals(2, posting.retractions);
        posted.append(memory, 20, 3);
        assertEquals(0, posted.extract());
        assertEquals(List.of("10 at 0", "3 at 20"), posting.expected);
        assertFalse(bmm.posts());
        assertEquals(LinkStatus.COMPLETE, bmm.retract(), "nothing was posted");
    }

    @Test
    void shouldKnowWhatIsPostedAfterABlockWhoseMemoryWasFreed() {
        posted.append(memory, 0, 3);
        posted.append(freed(), 0, 4);
        posted.append(memory, 10, 2);
        assertEquals(0, posted.extract());
        assertEquals(List.of("3 at 0, 4 at 0, 2 at 10"), posting.expected);
        posting.add(0, FIRST, "abcdefghi");
        assertThrows(IllegalStateException.class, posted::extract);
        assertEquals("abc", filled(3));
        assertEquals(6, posted.missingBytes());
        assertEquals(6, posted.untakenBytes());
        posted.append(memory, 20, 1);
        posting.arrived(3);
        assertEquals(0, posted.extract());
        assertEquals("1 at 20", posting.expected.getLast());
    }
}
