package io.madeleine.tm.bip.protocol;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Who may send how much. Times and offsets are given, so every step repeats. */
class GrantSchedulerTest {
    private static final int KIB = 1024;
    private static final EndpointSettings SETTINGS =
            new EndpointSettings(16 * KIB, 256 * KIB, 65_464, 1_000_000, 1_000_000_000L, 1_000_000_000L, false);
    private static final int BUFFER_BYTES = 320 * KIB;
    private static final int FOREVER = 1 << 30;

    private GrantScheduler scheduler = new GrantScheduler(SETTINGS, BUFFER_BYTES, GrantScheduler.Order.SHORTEST);
    private long nowNs = 1;

    private List<Grant> connect(int count) {
        List<Grant> made = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            made.add(scheduler.add(1 + i, nowNs));
        }
        return made;
    }

    private void want(Grant grant, long offset) {
        scheduler.moved(grant, grant.arrived, grant.taken, offset, 0, nowNs);
    }

    /** So many bytes arrive, and are read. */
    private void arrive(Grant grant, long bytes) {
        long arrived = grant.arrived + bytes;
        scheduler.moved(grant, arrived, arrived, grant.wanted, 0, nowNs);
    }

    private static long outstanding(List<Grant> grants) {
        return grants.stream().mapToLong(Grant::outstanding).sum();
    }

    @Test
    void shouldLetASinglePeerFillItsWindow() {
        Grant only = connect(1).getFirst();
        assertEquals(GrantScheduler.FIRST_BYTES, only.limit());
        want(only, FOREVER);
        assertEquals(256 * KIB, only.limit());
    }

    @Test
    void shouldGrantAllSendersTogetherNoMoreThanTheReceiveBufferHolds() {
        List<Grant> senders = connect(32);
        senders.forEach(each -> want(each, 256 * KIB));
        assertTrue(scheduler.budgetBytes() <= BUFFER_BYTES / 2, "the rest is for bip/short");
        assertTrue(outstanding(senders) <= scheduler.budgetBytes(), () -> "outstanding: " + outstanding(senders));
    }

    @Test
    void shouldGrantTheMessageThatLacksTheFewestBytesFirst() {
        scheduler = new GrantScheduler(SETTINGS, 1024 * KIB, GrantScheduler.Order.SHORTEST);
        List<Grant> senders = connect(8);
        senders.forEach(each -> want(each, 1024 * KIB));
        Grant quick = scheduler.add(99, nowNs);
        long had = quick.limit();
        long othersHad = senders.get(1).limit();
        want(quick, had + 8 * KIB);
        Grant first = senders.getFirst();
        for (int i = 0; i < 256 && quick.limit() < had + 8 * KIB; i++) {
            arrive(first, Math.min(first.outstanding(), KIB));
        }
        assertTrue(quick.limit() >= had + 8 * KIB, "a short message overtakes long ones");
        assertEquals(othersHad, senders.get(1).limit(), "which are older");
    }

    @Test
    void shouldAlwaysLeaveTheOldestMessageItsShare() {
        List<Grant> senders = connect(6);
        Grant oldest = senders.getFirst();
        want(oldest, FOREVER);
        arrive(oldest, oldest.outstanding());
        long had = oldest.arrived;
        for (int round = 0; round < 400; round++) { // the others are always shorter, and never cease
            for (Grant other : senders.subList(1, 6)) {
                arrive(other, other.outstanding());
                want(other, other.arrived + 100 * KIB);
            }
            arrive(oldest, Math.min(oldest.outstanding(), 2 * KIB));
            assertTrue(oldest.outstanding() > 0, "round " + round);
        }
        assertTrue(oldest.arrived - had > 300 * 2 * KIB);
    }

    @Test
    void shouldServeAllInTurnIfItIsToBeFair() {
        scheduler = new GrantScheduler(SETTINGS, BUFFER_BYTES, GrantScheduler.Order.FAIR);
        List<Grant> senders = connect(8);
        for (int i = 0; i < 8; i++) {
            want(senders.get(i), FOREVER / (i + 1));
        }
        for (int round = 0; round < 400; round++) {
            for (Grant each : senders) {
                arrive(each, Math.min(each.outstanding(), 4 * KIB));
            }
        }
        long least = senders.stream().mapToLong(each -> each.arrived).min().orElseThrow();
        long most = senders.stream().mapToLong(each -> each.arrived).max().orElseThrow();
        assertTrue(least > 100 * KIB && most <= 2 * least, least + " to " + most);
    }

    @Test
    void shouldGrantToOthersWhatASenderThatFellSilentDoesNotUse() {
        List<Grant> senders = connect(12);
        senders.forEach(each -> want(each, FOREVER));
        Grant hungry = senders.stream()
                .min((a, b) -> Long.compare(a.outstanding(), b.outstanding()))
                .orElseThrow();
        long before = hungry.limit();
        arrive(hungry, hungry.outstanding());
        for (int step = 0; step < 4 && hungry.limit() == before; step++) {
            nowNs = scheduler.nextDeadlineNs();
            scheduler.onTime(nowNs);
        }
        assertTrue(nowNs <= 3 * GrantScheduler.STALL_NS, "the bound");
        assertTrue(hungry.limit() > before, "the others are silent: it goes on");
    }

    @Test
    void shouldGrantToOthersWhatALostSenderHad() {
        List<Grant> senders = connect(12);
        senders.forEach(each -> want(each, FOREVER));
        Grant waiting = senders.getLast();
        long before = waiting.limit();
        senders.subList(0, 11).forEach(scheduler::remove);
        assertTrue(scheduler.nextDeadlineNs() - nowNs <= 0, "at once");
        scheduler.onTime(nowNs);
        assertTrue(waiting.limit() > before);
        assertEquals(waiting.ownId, scheduler.takeRaised());
        assertEquals(waiting.outstanding(), scheduler.outstandingBytes());
    }

    @Test
    void shouldNotGrantBeyondWhatTheReaderHasRoomFor() {
        Grant slow = connect(1).getFirst();
        want(slow, FOREVER);
        while (slow.outstanding() > 0) {
            scheduler.moved(slow, slow.arrived + 16 * KIB, 0, FOREVER, 0, nowNs);
        }
        assertEquals(256 * KIB, slow.limit());
        scheduler.taken(slow, 64 * KIB);
        assertEquals(320 * KIB, slow.limit());
    }

    @Test
    void shouldLetTheFirstBytesOfAMessageGoUnasked() {
        scheduler = new GrantScheduler(SETTINGS, 4096 * KIB, GrantScheduler.Order.SHORTEST);
        Grant sole = connect(1).getFirst();
        want(sole, 100 * KIB);
        arrive(sole, 100 * KIB);
        assertEquals(256 * KIB, sole.outstanding(), 64.0 * KIB);
        List<Grant> others = connect(1000);
        assertEquals(0, others.getLast().limit(), "a thousandth is not worth a datagram: the sender asks");
    }

    @Test
    void shouldNarrowTheWindowWhenManyDatagramsOfSeveralSendersAreLost() {
        scheduler = new GrantScheduler(SETTINGS, 4096 * KIB, GrantScheduler.Order.SHORTEST);
        List<Grant> senders = connect(8);
        senders.forEach(each -> want(each, FOREVER));
        long before = scheduler.windowBytes();
        for (int i = 0; i < 4000; i++) {
            Grant each = senders.get(i % 8);
            long arrived = each.arrived + Math.min(each.outstanding(), KIB);
            scheduler.moved(each, arrived, arrived, FOREVER, i % 4 == 0 ? 1 : 0, nowNs);
        }
        assertTrue(scheduler.windowBytes() < before, () -> "window " + scheduler.windowBytes());
        long narrow = scheduler.windowBytes();
        for (int i = 0; i < 4000; i++) {
            Grant each = senders.get(i % 8);
            arrive(each, Math.min(each.outstanding(), KIB));
        }
        assertTrue(scheduler.windowBytes() > narrow, "it widens again");
    }

    /** Senders come and go, ask for anything, and fall silent. */
    @Test
    void shouldKeepItsBudgetAndServeAllWhateverHappens() {
        for (int seed = 0; seed < 3000; seed++) {
            Random random = new Random(seed);
            scheduler = new GrantScheduler(
                    SETTINGS, (128 + random.nextInt(2048)) * KIB, GrantScheduler.Order.values()[random.nextInt(2)]);
            List<Grant> senders = connect(1 + random.nextInt(40));
            List<Grant> silent = new ArrayList<>();
            long allowed = Math.max(scheduler.budgetBytes(), outstanding(senders));
            for (int step = 0; step < 300; step++) {
                Grant each = senders.get(random.nextInt(senders.size()));
                if (silent.contains(each) || each.isRemoved) {
                    continue;
                }
                switch (random.nextInt(40)) {
                    case 0 -> silent.add(each);
                    case 1 -> scheduler.remove(each);
                    case 2, 3, 4, 5, 6, 7, 8, 9 -> want(each, each.arrived + random.nextInt(600 * KIB));
                    default -> arrive(each, random.nextInt((int) each.outstanding() + 1));
                }
                nowNs += random.nextInt(1_000_000);
                scheduler.onTime(nowNs);
                allowed = Math.max(allowed, scheduler.budgetBytes()); // fewer connections have less credit of bip/short
                String where = "seed " + seed + " step " + step;
                if (scheduler.stallCount() == 0) {
                    assertTrue(scheduler.outstandingBytes() <= allowed, where);
                    assertEquals(counted(senders), scheduler.outstandingBytes(), where);
                }
                senders.forEach(some -> assertTrue(some.limit() <= some.taken + some.capacity, where));
            }
            serveAll(senders, silent, "seed " + seed);
        }
    }

    private static long counted(List<Grant> senders) {
        return senders.stream()
                .filter(each -> !each.isRemoved)
                .mapToLong(Grant::outstanding)
                .sum();
    }

    private void serveAll(List<Grant> senders, List<Grant> silent, String where) {
        List<Grant> left = new ArrayList<>(senders);
        left.removeIf(each -> each.isRemoved || silent.contains(each));
        for (int turn = 0; turn < 20_000 && !left.isEmpty(); turn++) {
            for (Grant each : left) {
                arrive(each, Math.min(each.outstanding(), Math.max(0, each.remaining())));
            }
            left.removeIf(each -> each.remaining() <= 0);
            nowNs += 100_000;
            scheduler.onTime(nowNs);
        }
        assertTrue(left.isEmpty(), () -> where + ": " + left.size() + " senders starve");
    }
}
