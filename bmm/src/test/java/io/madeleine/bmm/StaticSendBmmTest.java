package io.madeleine.bmm;

import static io.madeleine.bmm.Texts.block;
import static io.madeleine.bmm.Texts.ranges;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.pmm.spi.AggregationMode;
import io.madeleine.pmm.spi.LinkStatus;
import io.madeleine.pmm.spi.PacketHeader;
import io.madeleine.pmm.spi.Region;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import org.junit.jupiter.api.Test;

class StaticSendBmmTest {
    private final SendLedger ledger = new SendLedger();
    private final Buffers link = new Buffers(AggregationMode.ASYMMETRIC);
    private final SendBmm bmm = over(link);

    private SendBmm over(Buffers sending) {
        return SendBmm.forLink(sending, ledger, new Staging(new StagingPool()));
    }

    private int append(String text) {
        return bmm.append(block(text), 0, text.length(), true, false);
    }

    private static MemorySegment freed() {
        try (Arena arena = Arena.ofShared()) {
            return arena.allocate(16);
        }
    }

    @Test
    void shouldSendBlocksTogetherInTheirOrderAtCommit() {
        assertFalse(bmm.holdsBlocks());
        assertEquals(LinkStatus.COMPLETE, bmm.append(block("..abc"), 2, 3, true, false));
        assertEquals(LinkStatus.COMPLETE, bmm.append(block("de"), 0, 2, false, true));
        assertTrue(bmm.holdsBlocks());
        assertEquals(List.of(), link.sent);
        assertEquals(LinkStatus.COMPLETE, bmm.flush());
        assertEquals(List.of("packet 0 of message 0, 5 bytes, first: abcde"), link.sent);
        assertEquals(1, link.announced, "a receiver that sleeps is woken");
        assertFalse(bmm.holdsBlocks());
        assertEquals(LinkStatus.COMPLETE, bmm.flush());
        assertEquals(1, link.sent.size(), "there is nothing more to send");
    }

    @Test
    void shouldNotNeedTheMemoryOfABlockOnceItIsTaken() {
        MemorySegment cheaper = block("abc");
        MemorySegment safer = block("def");
        assertEquals(LinkStatus.COMPLETE, bmm.append(cheaper, 0, 3, true, false));
        assertEquals(LinkStatus.COMPLETE, bmm.append(safer, 0, 3, false, false));
        assertFalse(bmm.touches(new Region(0, cheaper, Region.Kind.ORDINARY, "")));
        cheaper.fill((byte) '?');
        safer.fill((byte) '?');
        assertEquals(LinkStatus.COMPLETE, bmm.flushLast());
        assertEquals(List.of("packet 0 of message 0, 6 bytes, first, last: abcdef"), link.sent);
    }

    @Test
    void shouldSendAFullBufferOnlyWhenMoreFollows() {
        assertEquals(LinkStatus.COMPLETE, append("abcdefgh"));
        assertEquals(List.of(), link.sent, "the end mark may go with it");
        assertEquals(LinkStatus.COMPLETE, append("ij"));
        assertEquals(List.of("packet 0 of message 0, 8 bytes, first: abcdefgh"), link.sent);
        assertEquals(1, link.announced);
        assertEquals(LinkStatus.COMPLETE, bmm.flushLast());
        assertEquals("packet 1 of message 0, 2 bytes, last: ij", link.sent.getLast());
    }

    @Test
    void shouldSpreadALargeBlockOverBuffers() {
        assertEquals(LinkStatus.COMPLETE, append("abc"));
        assertEquals(LinkStatus.COMPLETE, append("defghijklmnopqrst"));
        assertEquals(LinkStatus.COMPLETE, bmm.append(ranges("uvwxyzABCDEF"), false, false));
        assertEquals(LinkStatus.COMPLETE, bmm.flush());
        assertEquals(
                List.of(
                        "packet 0 of message 0, 8 bytes, first: abcdefgh",
                        "packet 1 of message 0, 8 bytes: ijklmnop",
                        "packet 2 of message 0, 8 bytes: qrstuvwx",
                        "packet 3 of message 0, 8 bytes: yzABCDEF"),
                link.sent);
    }

    @Test
    void shouldGoOnInMovedMemoryWhereBuffersWereMissing() {
        link.free = 1;
        assertEquals(LinkStatus.PENDING, append("abcdefghijkl"));
        assertEquals(8, bmm.progressBytes());
        assertEquals(LinkStatus.PENDING, append("????????ijkl"));
        link.free = 2;
        assertEquals(LinkStatus.COMPLETE, bmm.append(block("##????????ijkl"), 2, 12, true, false));
        assertEquals(0, bmm.progressBytes());
        assertEquals(LinkStatus.PENDING, bmm.append(ranges("mnopqrstuvwxyz"), true, false));
        assertEquals(12, bmm.progressBytes());
        link.free = 1;
        assertEquals(LinkStatus.COMPLETE, bmm.append(ranges("????????????yz"), true, false));
        assertEquals(0, bmm.progressBytes());
        assertEquals(LinkStatus.COMPLETE, bmm.flushLast());
        assertEquals(
                List.of(
                        "packet 0 of message 0, 8 bytes, first: abcdefgh",
                        "packet 1 of message 0, 8 bytes: ijklmnop",
                        "packet 2 of message 0, 8 bytes: qrstuvwx",
                        "packet 3 of message 0, 2 bytes, last: yz"),
                link.sent);
    }

    @Test
    void shouldTakeTheRestOfABlockAsABlockOfItsOwn() {
        link.free = 1;
        assertEquals(LinkStatus.PENDING, append("abcdefghij"));
        bmm.keepRest();
        assertEquals(0, bmm.progressBytes());
        link.free = 1;
        assertEquals(LinkStatus.COMPLETE, append("ij"));
        assertEquals(LinkStatus.COMPLETE, bmm.flush());
        assertEquals("packet 1 of message 0, 2 bytes: ij", link.sent.getLast());
    }

    @Test
    void shouldSayThatTheConnectionIsGone() {
        link.closed = true;
        assertEquals(LinkStatus.CLOSED, append("abc"));
        assertEquals(LinkStatus.CLOSED, bmm.append(ranges("abc"), true, false));
        assertEquals(LinkStatus.CLOSED, bmm.flushMark(PacketHeader.LAST));
        assertEquals(LinkStatus.CLOSED, bmm.flushLast());
        assertEquals(LinkStatus.CLOSED, bmm.sendWhole(block("abc"), 0, 3, false));
        assertEquals(List.of(), link.sent);
    }

    @Test
    void shouldEndAGroupAtAnExpressBlockIfTheReceiverTakesWholeGroups() {
        Buffers symmetric = new Buffers(AggregationMode.SYMMETRIC);
        SendBmm groups = over(symmetric);
        assertEquals(LinkStatus.COMPLETE, groups.append(block(""), 0, 0, true, true));
        assertEquals(List.of(), symmetric.sent, "there is no group to end");
        assertEquals(LinkStatus.COMPLETE, groups.append(block("abc"), 0, 3, true, false));
        assertEquals(List.of(), symmetric.sent);
        assertEquals(LinkStatus.COMPLETE, groups.append(ranges("de"), true, true));
        assertEquals(List.of("packet 0 of message 0, 5 bytes, first: abcde"), symmetric.sent);
        assertEquals(1, symmetric.announced);
        assertEquals(LinkStatus.COMPLETE, groups.append(block("fg"), 0, 2, false, true));
        assertEquals("packet 1 of message 0, 2 bytes: fg", symmetric.sent.getLast());
    }

    @Test
    void shouldSendAMarkBehindTheBlocks() {
        assertEquals(LinkStatus.COMPLETE, append("abc"));
        assertEquals(LinkStatus.COMPLETE, bmm.flushMark(PacketHeader.LAST | PacketHeader.ABORT));
        assertEquals(
                List.of("packet 0 of message 0, 3 bytes, first: abc", "packet 1 of message 0, 0 bytes, last, abort"),
                link.sent);
        assertEquals(2, link.announced);
    }

    @Test
    void shouldSendAMarkOnceWhenItHadToWaitForABuffer() {
        link.free = 1;
        assertEquals(LinkStatus.COMPLETE, append("abc"));
        assertEquals(LinkStatus.PENDING, bmm.flushMark(PacketHeader.LAST));
        assertEquals(LinkStatus.PENDING, bmm.flushMark(PacketHeader.LAST));
        link.free = 2;
        assertEquals(LinkStatus.COMPLETE, bmm.flushMark(PacketHeader.LAST));
        assertEquals(
                List.of("packet 0 of message 0, 3 bytes, first: abc", "packet 1 of message 0, 0 bytes, last"),
                link.sent);
    }

    @Test
    void shouldPutTheEndMarkInThePacketOfTheLastBlocks() {
        assertEquals(LinkStatus.COMPLETE, append("abcdefgh"));
        assertEquals(LinkStatus.COMPLETE, bmm.flushLast());
        assertEquals(List.of("packet 0 of message 0, 8 bytes, first, last: abcdefgh"), link.sent);
        assertEquals(0, link.announced, "the caller announces it, when it holds no lock");
        bmm.announce();
        assertEquals(1, link.announced);
        assertFalse(bmm.holdsBlocks());
    }

    @Test
    void shouldSendTheEndMarkAloneIfNoBlocksAreLeft() {
        link.free = 0;
        assertEquals(LinkStatus.PENDING, bmm.flushLast());
        assertFalse(bmm.isCommitted(), "nothing has left, so the message can still be given up");
        link.free = 1;
        assertEquals(LinkStatus.COMPLETE, bmm.flushLast());
        assertEquals(List.of("packet 0 of message 0, 0 bytes, first, last"), link.sent);
    }

    @Test
    void shouldSendAMessageOfOneBlockAsOnePacket() {
        assertEquals(LinkStatus.COMPLETE, bmm.sendWhole(block(".abcdefgh"), 1, 8, true));
        ledger.nextMessage();
        assertEquals(LinkStatus.COMPLETE, bmm.sendWhole(block("ij"), 0, 2, false));
        assertEquals(
                List.of(
                        "packet 0 of message 0, 8 bytes, first, last: abcdefgh",
                        "packet 0 of message 1, 2 bytes, first, last: ij"),
                link.sent);
        assertEquals(0, link.announced, "the caller announces it");
        assertFalse(bmm.holdsBlocks());
    }

    @Test
    void shouldNotSendAMessageInOnePacketThatDoesNotFit() {
        assertEquals(LinkStatus.PENDING, bmm.sendWhole(block("abcdefghi"), 0, 9, false));
        assertFalse(link.claimed);
        link.free = 0;
        assertEquals(LinkStatus.PENDING, bmm.sendWhole(block("abc"), 0, 3, false));
        assertTrue(ledger.isUntouched());
        assertEquals(List.of(), link.sent);
    }

    @Test
    void shouldKeepTheEndMarkOutOfAGroupThatAnExpressBlockEnds() {
        Buffers symmetric = new Buffers(AggregationMode.SYMMETRIC);
        SendBmm groups = over(symmetric);
        assertEquals(LinkStatus.PENDING, groups.sendWhole(block("abc"), 0, 3, true));
        assertEquals(List.of(), symmetric.sent);
        assertEquals(LinkStatus.COMPLETE, groups.sendWhole(block("abc"), 0, 3, false));
        assertEquals(List.of("packet 0 of message 0, 3 bytes, first, last: abc"), symmetric.sent);
    }

    @Test
    void shouldSendAMessageInOneStepWhereTheLinkCan() {
        Buffers.OneStep able = new Buffers.OneStep(AggregationMode.ASYMMETRIC);
        SendBmm inOneStep = over(able);
        assertEquals(LinkStatus.COMPLETE, inOneStep.sendWhole(block(".abc"), 1, 3, false));
        ledger.nextMessage();
        able.able = false;
        assertEquals(LinkStatus.COMPLETE, inOneStep.sendWhole(block("de"), 0, 2, false));
        assertEquals(
                List.of(
                        "in one step, packet 0 of message 0, 3 bytes, first, last: abc",
                        "packet 0 of message 1, 2 bytes, first, last: de"),
                able.sent);
    }

    @Test
    void shouldSendTheNextBlockAfterOneWhoseMemoryWasFreed() {
        Buffers.OneStep able = new Buffers.OneStep(AggregationMode.ASYMMETRIC);
        SendBmm inOneStep = over(able);
        able.able = false;
        assertThrows(IllegalStateException.class, () -> inOneStep.sendWhole(freed(), 0, 3, false));
        assertFalse(inOneStep.isStateUnknown());
        assertFalse(inOneStep.holdsBlocks());
        assertEquals(LinkStatus.COMPLETE, inOneStep.flush());
        assertEquals(List.of(), able.sent, "nothing has left");
        able.able = true; // but a buffer is claimed
        assertEquals(LinkStatus.COMPLETE, inOneStep.sendWhole(block("abc"), 0, 3, false));
        assertEquals(List.of("packet 0 of message 0, 3 bytes, first, last: abc"), able.sent);
    }

    @Test
    void shouldKeepTheBlocksBeforeOneWhoseMemoryWasFreed() {
        assertEquals(LinkStatus.COMPLETE, append("abc"));
        assertThrows(IllegalStateException.class, () -> bmm.append(freed(), 0, 3, false, false));
        assertFalse(bmm.isStateUnknown());
        assertEquals(LinkStatus.COMPLETE, bmm.flush());
        assertEquals(List.of("packet 0 of message 0, 3 bytes, first: abc"), link.sent);
    }

    @Test
    void shouldGiveTheBufferOfAnAbandonedMessageBack() {
        link.free = 2;
        assertEquals(LinkStatus.PENDING, append("abcdefghijklmnopqrst"));
        link.free = 1;
        assertEquals(LinkStatus.COMPLETE, append("abcdefghijklmnopqrst"));
        assertTrue(bmm.holdsBlocks());
        assertFalse(bmm.abandon(), "the caller sends the abort mark");
        assertEquals(1, link.abandoned);
        assertFalse(bmm.holdsBlocks());
        assertFalse(bmm.abandon());
        assertEquals(1, link.abandoned, "it has been given back");
        link.free = 1;
        assertEquals(LinkStatus.COMPLETE, bmm.flushMark(PacketHeader.LAST | PacketHeader.ABORT));
        assertEquals(
                List.of(
                        "packet 0 of message 0, 8 bytes, first: abcdefgh",
                        "packet 1 of message 0, 8 bytes: ijklmnop",
                        "packet 2 of message 0, 0 bytes, last, abort"),
                link.sent);
    }

    @Test
    void shouldBeginAnewAfterABlockThatWasAbandonedHalfway() {
        link.free = 1;
        assertEquals(LinkStatus.PENDING, append("abcdefghij"));
        assertFalse(bmm.abandon());
        assertEquals(0, bmm.progressBytes());
        ledger.nextMessage();
        link.free = 1;
        assertEquals(LinkStatus.COMPLETE, append("klm"));
        assertEquals(LinkStatus.COMPLETE, bmm.flushLast());
        assertEquals("packet 0 of message 1, 3 bytes, first, last: klm", link.sent.getLast());
    }

    @Test
    void shouldNotKnowItsStateAfterAnErrorWithinTheLink() {
        link.failure = new OutOfMemoryError();
        assertThrows(OutOfMemoryError.class, () -> append("abc"));
        assertTrue(bmm.isStateUnknown());

        Buffers other = new Buffers(AggregationMode.ASYMMETRIC);
        SendBmm over = over(other);
        assertEquals(LinkStatus.COMPLETE, over.append(block("abc"), 0, 3, true, false));
        assertFalse(over.isStateUnknown());
        other.failure = new OutOfMemoryError();
        assertThrows(OutOfMemoryError.class, over::flush);
        assertTrue(over.isStateUnknown());
    }

    @Test
    void shouldNumberPacketsOverAllLinks() {
        Buffers second = new Buffers(AggregationMode.ASYMMETRIC);
        SendBmm overSecond = over(second);
        assertTrue(ledger.isUntouched());
        assertEquals(LinkStatus.COMPLETE, append("abc"));
        assertTrue(ledger.isUntouched(), "nothing has been sent");
        assertEquals(LinkStatus.COMPLETE, bmm.flush());
        assertFalse(ledger.isUntouched());
        assertEquals(LinkStatus.COMPLETE, overSecond.append(block("de"), 0, 2, true, false));
        assertEquals(LinkStatus.COMPLETE, overSecond.flush());
        assertEquals(LinkStatus.COMPLETE, bmm.flushLast());
        assertEquals(List.of("packet 1 of message 0, 2 bytes: de"), second.sent);
        assertEquals("packet 2 of message 0, 0 bytes, last", link.sent.getLast());
        ledger.nextMessage();
        assertTrue(ledger.isUntouched());
        assertEquals(LinkStatus.COMPLETE, overSecond.flushLast());
        assertEquals("packet 0 of message 1, 0 bytes, first, last", second.sent.getLast());
    }
}
