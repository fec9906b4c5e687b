package io.madeleine.bmm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.pmm.spi.AggregationMode;
import io.madeleine.pmm.spi.BufferGroup;
import io.madeleine.pmm.spi.BufferMode;
import io.madeleine.pmm.spi.DynamicLink;
import io.madeleine.pmm.spi.LinkMode;
import io.madeleine.pmm.spi.PacketHeader;
import io.madeleine.pmm.spi.TransmissionCapabilities;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.Deque;
import org.junit.jupiter.api.Test;

class ReceiveBmmTest {
    private final ReceiveLedger ledger = new ReceiveLedger();
    private final Packets first = new Packets();
    private final Packets second = new Packets();
    private final ReceiveBmm fromFirst = new ReceiveBmm(first, ledger);
    private final ReceiveBmm fromSecond = new ReceiveBmm(second, ledger);

    @Test
    void shouldNotCallPayloadOverdueWhileAnEarlierPacketIsOnItsWay() {
        fromFirst.append(MemorySegment.ofArray(new byte[8]), 0, 8);
        fromFirst.checkOut();
        assertEquals(0, fromFirst.extract());
        second.add(PacketHeader.of(100, 0, 1, 0)); // overtakes packet 0, which goes by the other link
        assertEquals(0, fromSecond.passMarks());
        assertTrue(fromSecond.holdsUnclaimedPayload());
        assertFalse(fromSecond.holdsOverduePayload());

        first.add(PacketHeader.of(8, 0, 0, PacketHeader.FIRST));
        assertTrue(fromFirst.extract() > 0);
        assertTrue(fromSecond.holdsOverduePayload(), "all before it is dealt with, and nobody asked for it");
        assertEquals(100, fromSecond.untakenBytes());
    }

    @Test
    void shouldCallPayloadOverdueOnceAPacketBehindItHasBeenTaken() {
        second.add(PacketHeader.of(8, 0, 1, 0));
        first.add(PacketHeader.of(4, 0, 0, PacketHeader.FIRST));
        fromSecond.append(MemorySegment.ofArray(new byte[8]), 0, 8);
        fromSecond.checkOut();
        assertTrue(fromSecond.extract() > 0);
        assertEquals(0, fromFirst.passMarks());
        assertTrue(fromFirst.holdsOverduePayload());
    }

    @Test
    void shouldJudgeMessagesOfMorePacketsThanAHeaderCounts() {
        int count = 5 * 4096;
        fromSecond.append(MemorySegment.ofArray(new byte[count]), 0, count);
        fromSecond.checkOut();
        for (int i = 0; i < count; i++) {
            second.add(PacketHeader.of(1, 0, i, i == 0 ? PacketHeader.FIRST : 0));
            assertTrue(fromSecond.extract() > 0);
            assertFalse(ledger.isEnded());
        }
        first.add(PacketHeader.of(4, 0, count, 0));
        assertEquals(0, fromFirst.passMarks());
        assertTrue(fromFirst.holdsOverduePayload());
        second.add(PacketHeader.of(1, 0, count + 1, PacketHeader.LAST));
        assertEquals(2, fromSecond.drop());
        assertFalse(ledger.isEnded());
        assertEquals(5, fromFirst.drop());
        assertTrue(ledger.isEnded());
    }

    @Test
    void shouldEnterAnEndMarkOnlyBehindThePacketsOfOtherLinks() {
        second.add(PacketHeader.of(0, 0, 2, PacketHeader.LAST)); // overtakes packets 0 and 1
        assertEquals(0, fromSecond.passMarks());
        first.add(PacketHeader.of(8, 0, 0, PacketHeader.FIRST));
        first.add(PacketHeader.of(8, 0, 1, 0));
        fromFirst.append(MemorySegment.ofArray(new byte[8]), 0, 8);
        fromFirst.checkOut();
        assertTrue(fromFirst.extract() > 0);
        assertEquals(0, fromSecond.passMarks());
        assertFalse(ledger.isEnded());
        assertTrue(fromFirst.holdsOverduePayload());
        fromFirst.append(MemorySegment.ofArray(new byte[8]), 0, 8);
        fromFirst.checkOut();
        assertTrue(fromFirst.extract() > 0);
        assertEquals(1, fromSecond.passMarks());
        assertTrue(ledger.isEnded());
    }

    @Test
    void shouldJudgeWithoutLookingAtTheLink() {
        assertEquals(0, fromFirst.passMarks());
        first.add(PacketHeader.of(0, 0, 0, PacketHeader.FIRST | PacketHeader.LAST));
        int looks = first.looks;
        assertFalse(fromFirst.holdsOverduePayload());
        assertEquals(looks, first.looks, "what a look brings up would be news for nobody");
        assertEquals(1, fromFirst.passMarks());
    }

    @Test
    void shouldEnterAnAbortMarkAtOnce() {
        second.add(PacketHeader.of(0, 0, 2, PacketHeader.LAST | PacketHeader.ABORT));
        assertEquals(1, fromSecond.passMarks());
        assertTrue(ledger.isAborted());
        assertFalse(ledger.isEnded());
        first.add(PacketHeader.of(8, 0, 0, PacketHeader.FIRST));
        first.add(PacketHeader.of(8, 0, 1, 0));
        assertTrue(fromFirst.drop() > 0);
        assertTrue(ledger.isEnded());
    }

    @Test
    void shouldNotTakePartsOfAGroupThatIsSymmetric() {
        first.add(PacketHeader.of(16, 0, 0, PacketHeader.FIRST));
        fromFirst.append(MemorySegment.ofArray(new byte[8]), 0, 8);
        assertFalse(fromFirst.holdsLargerGroup(), "the group may grow until it is checked out");
        fromFirst.checkOut();
        assertEquals(0, fromFirst.extract());
        assertTrue(fromFirst.holdsLargerGroup());
        assertEquals(16, fromFirst.untakenBytes());
    }

    @Test
    void shouldKnowWhatIsLeftOfAPacketWhenTheMemoryOfABlockIsGone() {
        MemorySegment gone;
        try (Arena arena = Arena.ofShared()) {
            gone = arena.allocate(24);
        }
        first.add(PacketHeader.of(32, 0, 0, PacketHeader.FIRST));
        fromFirst.append(MemorySegment.ofArray(new byte[8]), 0, 8);
        fromFirst.append(gone, 0, 24);
        fromFirst.checkOut();
        assertThrows(IllegalStateException.class, fromFirst::extract);
        fromFirst.forgetBlocks();
        assertEquals(24, fromFirst.untakenBytes());
        assertEquals(25, fromFirst.drop());
    }

    /** A link to which packets of zeros come. */
    private static final class Packets implements DynamicLink {
        private final Deque<Long> headers = new ArrayDeque<>();
        int looks;

        void add(long header) {
            headers.add(header);
        }

        @Override
        public TransmissionCapabilities capabilities() {
            return new TransmissionCapabilities(
                    "test/packets",
                    BufferMode.DYNAMIC,
                    LinkMode.BUFFER_GROUP,
                    AggregationMode.SYMMETRIC,
                    Long.MAX_VALUE,
                    0,
                    "packets of zeros");
        }

        @Override
        public long front() {
            looks++;
            return headers.isEmpty() ? 0 : headers.getFirst();
        }

        @Override
        public long receive(BufferGroup group, long maxBytes) {
            return group.fillFrom(MemorySegment.ofArray(new byte[(int) maxBytes]), 0, maxBytes);
        }

        @Override
        public long skip(long maxBytes) {
            return maxBytes;
        }

        @Override
        public void release() {
            headers.removeFirst();
        }

        @Override
        public int send(long header, BufferGroup group, long trailer) {
            throw new UnsupportedOperationException("nothing is sent here");
        }
    }
}
