package io.madeleine.tm.bip;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.pmm.StreamDetector;
import org.junit.jupiter.api.Test;

/** What waits for other packets, and for how long, by a clock that the test sets. */
class HeldBackTest {
    private static final long COALESCE_NS = 20_000;
    private static final long WITHIN_NS = 100;

    private final HeldBack held = new HeldBack(COALESCE_NS, this::now);
    private long nowNs = 1_000_000_000;

    private long now() {
        return nowNs;
    }

    private boolean packet(boolean isFull) {
        nowNs += WITHIN_NS;
        boolean isHeld = held.addPacket(0, isFull);
        if (!isHeld) {
            held.sent();
        }
        return isHeld;
    }

    private void beginStream() {
        int first = 0;
        while (!packet(false)) {
            assertTrue(++first <= StreamDetector.RUN + 1, "the stream is dense by now");
        }
    }

    @Test
    void shouldHoldBackThePacketsOfADenseStreamAlone() {
        for (int i = 0; i < 3 * StreamDetector.RUN; i++) {
            nowNs += COALESCE_NS;
            assertFalse(packet(false), "after a pause");
        }
        beginStream();
        assertTrue(packet(false));
    }

    @Test
    void shouldHoldBackNoPacketThatFillsADatagram() {
        beginStream();
        assertFalse(packet(true));
        assertFalse(held.isAny(), "it took the others along");
        assertTrue(packet(false), "the stream goes on");
    }

    @Test
    void shouldHoldBackNothingBehindAnOldPacket() {
        beginStream();
        long first = nowNs;
        while (nowNs + WITHIN_NS - first < COALESCE_NS) {
            assertTrue(packet(false));
        }
        int more = 0;
        while (packet(false)) {
            assertTrue(
                    ++more < HeldBack.CLOCK_PACKETS, "the clock is read for one packet in " + HeldBack.CLOCK_PACKETS);
        }
    }

    @Test
    void shouldSendAFullDatagramThoughTheClockIsNotRead() {
        beginStream();
        for (int i = 0; i < 3 * HeldBack.CLOCK_PACKETS; i++) {
            assertTrue(packet(false));
            assertFalse(packet(true));
            assertTrue(packet(false), "the stream goes on");
        }
    }

    @Test
    void shouldSeeAPauseBehindAFewMorePackets() {
        beginStream();
        nowNs += COALESCE_NS;
        int more = 0;
        while (packet(false)) {
            assertTrue(++more < HeldBack.CLOCK_PACKETS, "what is held back is old");
        }
    }

    @Test
    void shouldNotTakeALongerGapForDenseWhereMoreMayBeHeldBack() {
        HeldBack patient = new HeldBack(100 * COALESCE_NS, this::now);
        for (int i = 0; i < 3 * StreamDetector.RUN; i++) {
            nowNs += COALESCE_NS / 2;
            assertFalse(patient.addPacket(0, false));
            patient.sent();
        }
    }

    @Test
    void shouldSayWhatIsOldAndWhenToLook() {
        assertFalse(held.isOld(nowNs + 10 * COALESCE_NS), "nothing is held back");
        beginStream();
        assertFalse(held.isOld(nowNs + COALESCE_NS - 1));
        assertTrue(held.isOld(nowNs + COALESCE_NS));
        assertEquals(nowNs + HeldBack.LOOK_NS, held.dueNs());
    }

    @Test
    void shouldKnowWhoseThePacketsAndMarksAreAndThatReportsAreNobodys() throws InterruptedException {
        assertTrue(held.addReport());
        assertTrue(held.isAny());
        assertFalse(held.isOwn(), "any thread's datagram may carry it");
        held.sent();
        assertFalse(held.isAny());
        assertTrue(held.addMark());
        assertTrue(held.isOwn());
        Thread other = Thread.ofPlatform().start(() -> assertFalse(held.isOwn()));
        other.join();
    }

    @Test
    void shouldEndAStreamWhoseSenderWaitsAfterFewPackets() {
        beginStream();
        held.senderWaits();
        held.sent();
        assertFalse(packet(false), "it is a conversation");
    }

    @Test
    void shouldNotTakeAReportForAConversation() {
        beginStream();
        held.sent();
        assertTrue(held.addReport());
        held.senderWaits();
        held.sent();
        assertTrue(packet(false), "the stream goes on");
    }

    @Test
    void shouldHoldNothingBackWithoutTime() {
        HeldBack none = new HeldBack(0, this::now);
        for (int i = 0; i < 3 * StreamDetector.RUN; i++) {
            assertFalse(none.addPacket(0, false));
            none.sent();
        }
        assertFalse(none.addMark());
        assertFalse(none.addReport());
    }
}
