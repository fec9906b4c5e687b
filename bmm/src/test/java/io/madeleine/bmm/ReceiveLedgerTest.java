package io.madeleine.bmm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.pmm.spi.PacketHeader;
import org.junit.jupiter.api.Test;

class ReceiveLedgerTest {
    private static final int FIRST = PacketHeader.FIRST;
    private static final int LAST = PacketHeader.LAST;

    private final ReceiveLedger ledger = new ReceiveLedger();

    private static long packet(int sequence, int index, int flags) {
        return PacketHeader.of(0, sequence, index, flags);
    }

    private void enter(int index, int flags) {
        ledger.enter(packet(0, index, flags), index);
    }

    @Test
    void shouldKnowTheFirstPacketOfAMessage() {
        assertTrue(ledger.isFirst(packet(0, 0, FIRST)));
        assertTrue(ledger.isFirst(packet(0, 0, FIRST | LAST)));
        assertFalse(ledger.isFirst(packet(1, 0, FIRST)), "of the next message");
        assertFalse(ledger.isFirst(packet(0, 1, 0)), "the second packet");
        assertFalse(ledger.isFirst(packet(0, 0, 0)), "not marked as the first");
        assertFalse(ledger.isFirst(packet(0, 1, FIRST)), "not numbered as the first");
        enter(0, FIRST);
        assertFalse(ledger.isFirst(packet(0, 0, FIRST)), "the first one has been entered");
    }

    @Test
    void shouldKnowTheMessageOfAPacket() {
        assertTrue(ledger.isOfThisMessage(packet(0, 5, 0)));
        assertFalse(ledger.isOfThisMessage(packet(1, 0, FIRST)));
        enter(0, FIRST | LAST);
        assertFalse(ledger.isOfThisMessage(packet(0, 1, 0)), "it has ended");
        ledger.nextMessage();
        assertTrue(ledger.isOfThisMessage(packet(1, 0, FIRST)));
        assertFalse(ledger.isOfThisMessage(packet(0, 0, FIRST)));
        for (int i = 1; i < 4096; i++) {
            ledger.nextMessage();
        }
        assertTrue(ledger.isOfThisMessage(packet(4096, 0, FIRST)), "a header counts up to 4096");
    }

    @Test
    void shouldEndAMessageWhenItsLastPacketAndAllBeforeItAreEntered() {
        assertFalse(ledger.isEnded());
        enter(2, LAST);
        assertFalse(ledger.isEnded());
        enter(0, FIRST);
        assertFalse(ledger.isEnded());
        enter(1, 0);
        assertTrue(ledger.isEnded());
        assertFalse(ledger.isAborted());
        ledger.nextMessage();
        assertFalse(ledger.isEnded());
    }

    @Test
    void shouldForgetAnAbortWithItsMessage() {
        enter(0, FIRST);
        assertFalse(ledger.isAborted());
        enter(1, LAST | PacketHeader.ABORT);
        assertTrue(ledger.isAborted());
        assertTrue(ledger.isEnded());
        ledger.nextMessage();
        assertFalse(ledger.isAborted());
        assertFalse(ledger.isEnded());
        ledger.enter(packet(1, 0, FIRST | LAST), 0);
        assertTrue(ledger.isEnded());
    }

    @Test
    void shouldFindTheFullIndexOfAPacketFromItsLowBits() {
        for (int i = 0; i < 10_000; i++) {
            enter(i, 0);
        }
        assertEquals(10_000, ledger.find(packet(0, 10_000, 0)));
        assertEquals(10_000 - 1024, ledger.find(packet(0, 10_000 - 1024, 0)), "it comes late by another link");
        assertEquals(10_000 + 3071, ledger.find(packet(0, 10_000 + 3071, 0)), "it has overtaken others");
        assertTrue(ledger.isNext(10_000));
        assertFalse(ledger.isNext(10_001));
        assertEquals(3, ledger.foundCount());
        ledger.nextMessage();
        assertEquals(0, ledger.find(packet(1, 0, FIRST)));
        assertEquals(4, ledger.foundCount(), "over all messages");
    }

    @Test
    void shouldCallAPacketOverdueIfAllBeforeItOrOneBehindItHasBeenEntered() {
        assertTrue(ledger.isOverdue(0));
        assertFalse(ledger.isOverdue(1));
        enter(2, 0);
        assertTrue(ledger.isOverdue(1));
        assertFalse(ledger.isOverdue(3));
        enter(0, FIRST);
        assertFalse(ledger.isOverdue(3));
        enter(1, 0);
        assertTrue(ledger.isOverdue(3));
        ledger.nextMessage();
        assertTrue(ledger.isOverdue(0));
        assertFalse(ledger.isOverdue(1), "packets of the message before do not count");
    }
}
