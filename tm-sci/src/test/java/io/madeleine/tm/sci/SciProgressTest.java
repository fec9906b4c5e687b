package io.madeleine.tm.sci;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.api.LossKind;
import io.madeleine.pmm.spi.BufferGroup;
import io.madeleine.pmm.spi.ConnectionListener;
import io.madeleine.pmm.spi.DynamicLink;
import io.madeleine.pmm.spi.LinkStatus;
import io.madeleine.pmm.spi.PacketHeader;
import io.madeleine.pmm.spi.ProgressSource;
import io.madeleine.pmm.spi.StaticLink;
import io.madeleine.pmm.spi.TransmissionLink;
import io.madeleine.tm.sci.wake.SciProgress;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Nothing may be missed between two threads that stand for two processes, whoever looks away or falls asleep when. */
@Timeout(value = 110, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class SciProgressTest {
    private static final int FEW_LOOKS = 3;

    @TempDir
    Path directory;

    private Side a;
    private Side b;

    @BeforeEach
    void open() {
        a = Side.impatient(directory, 1, FEW_LOOKS);
        b = Side.impatient(directory, 2, FEW_LOOKS);
    }

    @AfterEach
    void close() {
        a.close();
        b.close();
    }

    /** Takes packets and checks their order. */
    private static final class Reader implements ConnectionListener {
        private final TransmissionLink link;
        volatile int received;

        Reader(TransmissionLink link) {
            this.link = link;
        }

        @Override
        public int onReadable() {
            int work = 0;
            for (long header; (header = link.front()) > 0; work++) {
                assertEquals(received & 0xFFF, PacketHeader.sequence(header));
                long left = PacketHeader.payloadBytes(header);
                while (left > 0) {
                    left -= link.skip(left);
                }
                link.release();
                received++;
            }
            return work;
        }

        @Override
        public void onLost(LossKind kind, boolean orderly, String reason) {
            throw new AssertionError(reason);
        }
    }

    /** Fails on the first news, and would be looked at again some time. */
    private static final class ShortOfMemory implements ConnectionListener {
        private final AtomicInteger failures;
        private int looks;

        ShortOfMemory(AtomicInteger failures) {
            this.failures = failures;
        }

        @Override
        public int onReadable() {
            looks++;
            if (failures.getAndDecrement() > 0) {
                throw new OutOfMemoryError("as a test");
            }
            return 1;
        }

        @Override
        public void onLost(LossKind kind, boolean orderly, String reason) {
            if (failures.getAndDecrement() > 0) {
                throw new OutOfMemoryError("as a test");
            }
            looks += 1000;
        }
    }

    @Test
    void shouldLookAgainAtAllThatWasAnnouncedIfMemoryIsShort() {
        Side.Pair first = Side.Pair.of(a, b, "first");
        Side.Pair second = Side.Pair.of(a, b, "second");
        AtomicInteger failures = new AtomicInteger(1);
        ShortOfMemory one = new ShortOfMemory(failures);
        ShortOfMemory other = new ShortOfMemory(failures);
        first.right().start(one);
        second.right().start(other);
        b.round();
        long nowNs = justAfterALook();
        first.left().finish();
        second.left().finish();
        assertThrows(OutOfMemoryError.class, () -> b.adapter.progress().poll(nowNs));
        b.adapter.progress().poll(nowNs);
        assertTrue(one.looks >= 1000 && other.looks >= 1000, one.looks + " and " + other.looks);
    }

    /** On average longer than one looks before one sleeps. */
    private static final int PAUSE_SPINS = 2_000;

    /** Has b look everywhere, and returns the time of that by its clock: within 100 ms it does not look again. */
    private long justAfterALook() {
        long nowNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(5);
        int _ = b.adapter.progress().poll(nowNs);
        return nowNs;
    }

    private static CompletableFuture<Void> inAnotherThread(Runnable task) {
        return CompletableFuture.runAsync(task, Thread.ofPlatform().daemon()::start);
    }

    private static void pause(SplittableRandom random, int maxSpins) {
        for (int spins = random.nextInt(maxSpins + 1); spins > 0; spins--) {
            Thread.onSpinWait();
        }
    }

    private static void send(StaticLink link, int sequence) {
        while (link.claim() < 0) {
            Thread.yield();
        }
        link.commit(PacketHeader.of(8, sequence, 0, 0));
        link.announce();
    }

    @Test
    void shouldMissNothingWhileConnectionsLeaveTheListOfThoseLookedAt() {
        int count = 1_000_000;
        Side.Pair pair = Side.Pair.of(a, b, "main");
        Reader reader = new Reader(pair.rightShort());
        pair.right().start(reader);
        CompletableFuture<Void> sender = inAnotherThread(() -> {
            SplittableRandom random = new SplittableRandom(11);
            for (int i = 0; i < count; i++) {
                send(pair.leftShort(), i);
                if (random.nextInt(8) == 0) {
                    pause(random, 50);
                }
            }
        });
        long deadlineNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(90);
        while (reader.received < count && System.nanoTime() < deadlineNs && !sender.isCompletedExceptionally()) {
            if (b.adapter.progress().poll(0) == 0) {
                Thread.yield();
            }
        }
        assertEquals(count, reader.received);
        sender.join();
    }

    /**
     * Most messages are waited for in a sleep; beside other work, more are there before it. With -Pthorough there are a
     * million sleeps.
     */
    @Test
    @Timeout(value = 5, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void shouldLoseNoWakeUp() {
        boolean thorough = Boolean.getBoolean("thorough");
        int count = thorough ? 1_000_000 : 20_000;
        int minSleeps = thorough ? count : count / 2;
        Side.Pair pair = Side.Pair.of(a, b, "main");
        Reader left = new Reader(pair.left().links().getFirst());
        Reader right = new Reader(pair.rightShort());
        pair.left().start(left);
        pair.right().start(right);
        CompletableFuture<Void> pong = inAnotherThread(() -> {
            SplittableRandom random = new SplittableRandom(12);
            StaticLink back = (StaticLink) pair.right().links().getFirst();
            for (int i = 0; i < count; i++) {
                sleepUntil(b, right, i + 1);
                pause(random, PAUSE_SPINS);
                send(back, i);
            }
        });
        SplittableRandom random = new SplittableRandom(13);
        for (int i = 0; i < count && !pong.isCompletedExceptionally(); i++) {
            pause(random, PAUSE_SPINS);
            send(pair.leftShort(), i);
            sleepUntil(a, left, i + 1);
        }
        pong.join();
        System.out.println(count + " round trips, sleeps: " + a.sleeps + " and " + b.sleeps
                + ", of those that went on: " + a.rearms + " and " + b.rearms);
        assertTrue(a.sleeps + b.sleeps >= minSleeps, "they hardly slept: " + a.sleeps + " and " + b.sleeps);
        assertTrue(a.rearms > 0 && b.rearms > 0, "no sleep went on");
    }

    private static void sleepUntil(Side side, Reader reader, int count) {
        while (reader.received < count) {
            if (side.adapter.progress().poll(0) == 0) {
                boolean lost = count % 3 == 0 ? side.longSleepIsLost() : side.sleepIsLost();
                assertFalse(lost, "nobody woke it for message " + count);
            }
        }
    }

    @Test
    void shouldLookDirectlyAtWhomItPolledForAMomentOnlyIfNewsAreDense() {
        Side.Pair pair = Side.Pair.of(a, b, "main");
        Reader reader = new Reader(pair.rightShort());
        pair.right().start(reader);
        ProgressSource progress = b.adapter.progress();
        long nowNs = justAfterALook();
        while (!progress.armForBlocking()) {
            progress.disarm();
            progress.poll(0);
        }
        int sent = 0;
        for (int salvo = 0; salvo < 5; salvo++) {
            nowNs += 200_000;
            for (int i = 1; i < SciProgress.DENSE_ANNOUNCEMENTS; i++) {
                progress.disarmForAMoment();
                send(pair.leftShort(), sent++);
                assertEquals(1, progress.poll(nowNs += 1_000));
                assertTrue(progress.rearm(), "the sleep goes on");
            }
        }
        progress.disarmForAMoment();
        send(pair.leftShort(), sent++);
        assertEquals(1, progress.poll(nowNs += 1_000));
        assertFalse(progress.rearm(), "now it is looked at directly: to look away takes a while");
        progress.disarm();
        assertEquals(sent, reader.received);
    }

    @Test
    void shouldNotTakeReadersThatBecomeInterestedForDenseNews() {
        Side.Pair pair = Side.Pair.of(a, b, "main");
        pair.right().start(new Reader(pair.rightShort()));
        ProgressSource progress = b.adapter.progress();
        long nowNs = justAfterALook();
        while (!progress.armForBlocking()) {
            progress.disarm();
            progress.poll(0);
        }
        for (int i = 0; i < 2 * SciProgress.DENSE_ANNOUNCEMENTS; i++) {
            progress.disarmForAMoment();
            pair.right().receiveInterest(true);
            assertEquals(0, progress.poll(nowNs += 1_000));
            assertTrue(progress.rearm(), "the sleep goes on");
        }
        progress.disarm();
    }

    @Test
    void shouldSleepLongerTheLongerNothingComesAndShortAfterAWatchedConnection() {
        Side.Pair pair = Side.Pair.of(a, b, "main");
        pair.right().start(new Reader(pair.rightShort()));
        ProgressSource progress = b.adapter.progress();
        long nowNs = System.nanoTime();
        long longestNs = 0;
        for (int sleep = 0; sleep < 8; sleep++) {
            longestNs = sleepInVain(progress, nowNs);
            nowNs += longestNs + 1;
            progress.poll(nowNs);
        }
        assertEquals(TimeUnit.SECONDS.toNanos(3), longestNs);
        send(pair.leftShort(), 0);
        assertEquals(1, progress.poll(nowNs + 1));
        assertEquals(TimeUnit.MILLISECONDS.toNanos(100), sleepInVain(progress, nowNs + 2));
    }

    /** Returns how long the sleep may last. */
    private static long sleepInVain(ProgressSource progress, long nowNs) {
        while (!progress.armForBlocking()) {
            progress.disarm();
            progress.poll(nowNs);
        }
        long longestNs = progress.longestSleepNs();
        progress.disarm();
        return longestNs;
    }

    /** Has b sleep with its connection off the list, still watched, because nobody wants to read from it. */
    private ProgressSource sleepUninterested(Side.Pair pair, long nowNs) {
        ProgressSource progress = b.adapter.progress();
        send(pair.leftShort(), 0);
        assertEquals(1, progress.poll(nowNs));
        pair.right().receiveInterest(false);
        while (!progress.armForBlocking()) {
            progress.disarm();
        }
        progress.disarmForAMoment();
        pair.right().receiveInterest(true);
        return progress;
    }

    @Test
    void shouldSeeTheNextMessageWhenAReaderBecomesInterestedWhileAnotherThreadPollsForAMoment() {
        Side.Pair pair = Side.Pair.of(a, b, "main");
        Reader reader = new Reader(pair.rightShort());
        pair.right().start(reader);
        long nowNs = justAfterALook();
        ProgressSource progress = sleepUninterested(pair, nowNs);
        assertEquals(0, progress.poll(nowNs));
        boolean _ = progress.rearm();
        send(pair.leftShort(), 1);
        progress.disarm();
        assertEquals(1, progress.poll(nowNs));
        assertEquals(2, reader.received);
    }

    @Test
    void shouldSeeTheNextMessageWhenAReaderBecomesInterestedAndTheSleepGoesOn() {
        Side.Pair pair = Side.Pair.of(a, b, "main");
        Reader reader = new Reader(pair.rightShort());
        pair.right().start(reader);
        long nowNs = justAfterALook();
        ProgressSource progress = sleepUninterested(pair, nowNs);
        boolean _ = progress.rearm();
        progress.disarm();
        assertEquals(0, progress.poll(nowNs));
        send(pair.leftShort(), 1);
        assertEquals(1, progress.poll(nowNs));
        assertEquals(2, reader.received);
    }

    /** Leaves what has come to a handler, which reads it when the round is over. */
    private static final class ForHandler implements ConnectionListener {
        @Override
        public int onReadable() {
            return 1;
        }

        @Override
        public void onLost(LossKind kind, boolean orderly, String reason) {
            throw new AssertionError(reason);
        }
    }

    @Test
    void shouldSleepOnOnceAHandlerHasReadWhatWasLeftToIt() {
        Side.Pair pair = Side.Pair.of(a, b, "main");
        Reader handler = new Reader(pair.rightShort());
        pair.right().start(new ForHandler());
        ProgressSource progress = b.adapter.progress();
        long nowNs = justAfterALook();
        while (!progress.armForBlocking()) {
            progress.disarm();
            progress.poll(0);
        }
        for (int i = 0; i < 3; i++) {
            progress.disarmForAMoment();
            send(pair.leftShort(), i);
            assertEquals(1, progress.poll(nowNs += 200_000));
            assertFalse(progress.rearm(), "it has not been read");
            progress.disarmForAMoment();
            assertEquals(1, handler.onReadable());
            assertTrue(progress.rearm(), "the sleep goes on");
        }
        progress.disarm();
    }

    @Test
    void shouldSleepOnThoughAnnouncementsComeOfWhatHasBeenRead() {
        Side.Pair pair = Side.Pair.of(a, b, "main");
        Reader reader = new Reader(pair.rightShort());
        pair.right().start(reader);
        ProgressSource progress = b.adapter.progress();
        while (!progress.armForBlocking()) {
            progress.disarm();
            progress.poll(0);
        }
        progress.disarmForAMoment();
        assertTrue(pair.leftShort().claim() >= 0);
        pair.leftShort().commit(PacketHeader.of(8, 0, 0, 0));
        assertEquals(1, reader.onReadable()); // as who looks at the sender it expects
        pair.leftShort().announce();
        assertTrue(progress.rearm(), "of what has been read");
        long startNs = System.nanoTime();
        pair.leftShort().announce(); // once more, as late as that
        reactorSleeps(b, 20_000_000);
        assertTrue(System.nanoTime() - startNs >= 15_000_000, "it rings for what has been read");
        progress.disarmForAMoment();
        assertTrue(pair.leftShort().claim() >= 0);
        pair.leftShort().commit(PacketHeader.of(8, 1, 0, 0));
        pair.leftShort().announce();
        assertFalse(progress.rearm(), "of what has not been read");
        progress.disarm();
        assertEquals(1, progress.poll(System.nanoTime()));
        assertEquals(2, reader.received);
    }

    @Test
    void shouldSleepOnWhileAnotherThreadReadsWhatIsAnnounced() {
        Side.Pair pair = Side.Pair.of(a, b, "main");
        Reader reader = new Reader(pair.rightShort());
        pair.right().start(reader);
        ProgressSource progress = b.adapter.progress();
        while (!progress.armForBlocking()) {
            progress.disarm();
            progress.poll(0);
        }
        long startNs = System.nanoTime();
        for (int i = 0; i < 3; i++) {
            assertTrue(pair.leftShort().claim() >= 0);
            pair.leftShort().commit(PacketHeader.of(8, i, 0, 0));
            assertEquals(1, reader.onReadable()); // as a thread that waits and does not lead
            pair.leftShort().announce();
        }
        reactorSleeps(b, 20_000_000);
        assertTrue(System.nanoTime() - startNs >= 15_000_000, "it rings for what has been read");
        progress.disarm();
    }

    private static void reactorSleeps(Side side, long ns) {
        int _ = side.reactor.sleep(ns);
    }

    @Test
    void shouldFindAfterAWhileWhatNoAnnouncementToldOf() {
        assertEquals(
                Long.MAX_VALUE, b.adapter.progress().longestSleepNs(), "without a connection there is nothing to miss");
        Side.Pair pair = Side.Pair.of(a, b, "main");
        Reader reader = new Reader(pair.rightShort());
        pair.right().start(reader);
        long nowNs = justAfterALook();
        while (!b.adapter.progress().armForBlocking()) {
            b.adapter.progress().disarm();
            b.adapter.progress().poll(0);
        }
        assertTrue(pair.leftShort().claim() >= 0);
        pair.leftShort().commit(PacketHeader.of(8, 0, 0, 0)); // and its announcement is lost
        b.adapter.progress().disarm();
        assertEquals(0, b.adapter.progress().poll(nowNs));
        long sleptNs = b.adapter.progress().longestSleepNs();
        assertTrue(sleptNs <= 100_000_000, "it may sleep for " + sleptNs);
        b.adapter.progress().poll(nowNs + 2 * sleptNs);
        assertEquals(1, reader.received);
    }

    /** Neglects one link until its sender has found no room: an always faster receiver leaves nothing to test. */
    private static void readUntilStalled(
            AtomicInteger stalls, Reader neglected, Reader read, BooleanSupplier allSent, SplittableRandom random) {
        int seen = stalls.get();
        neglected.onReadable(); // a sender whose stall is among those seen goes on
        while (stalls.get() == seen && !allSent.getAsBoolean()) {
            pause(random, 300);
            read.onReadable();
        }
    }

    @Test
    void shouldWakeASenderThatWaitsForRoomOnEitherLink() {
        int count = 2_000;
        Side.Pair pair = Side.Pair.of(a, b, "main");
        Reader small = new Reader(pair.rightShort());
        Reader large = new Reader(pair.rightRegular());
        AtomicInteger smallStalls = new AtomicInteger();
        AtomicInteger largeStalls = new AtomicInteger();
        AtomicInteger sent = new AtomicInteger();
        BooleanSupplier allSent = () -> sent.get() == count;
        CompletableFuture<Void> receiver = inAnotherThread(() -> {
            SplittableRandom random = new SplittableRandom(14);
            while (small.received < count || large.received < count) {
                readUntilStalled(smallStalls, small, large, allSent, random);
                readUntilStalled(largeStalls, large, small, allSent, random);
                for (int rounds = random.nextInt(16); rounds > 0; rounds--) {
                    pause(random, 300);
                    small.onReadable();
                    large.onReadable();
                }
            }
        });
        MemorySegment block = MemorySegment.ofArray(new byte[40_000]);
        DynamicLink regular = pair.leftRegular();
        for (int i = 0; i < count && !receiver.isCompletedExceptionally(); i++) {
            while (pair.leftShort().claim() == LinkStatus.PENDING) {
                smallStalls.incrementAndGet();
                assertFalse(a.sleepIsLost(), "nobody woke the sender of small message " + i);
                a.adapter.progress().poll(0);
            }
            pair.leftShort().commit(PacketHeader.of(8000, i, 0, 0));
            pair.leftShort().announce();
            BufferGroup group = Side.group(block);
            while (regular.send(PacketHeader.of(40_000, i, 0, 0), group, 0) == LinkStatus.PENDING) {
                largeStalls.incrementAndGet();
                assertFalse(a.sleepIsLost(), "nobody woke the sender of large message " + i);
                a.adapter.progress().poll(0);
            }
            sent.incrementAndGet();
        }
        receiver.join();
        assertTrue(smallStalls.get() > 0, "there was always room for a small message");
        assertTrue(largeStalls.get() > 0, "there was always room for a large message");
    }

    @Test
    void shouldMissNothingWhenAnotherThreadReadsAndTellsItsInterest() {
        int count = 10_000;
        Side.Pair pair = Side.Pair.of(a, b, "main");
        TransmissionLink link = pair.rightShort();
        ReentrantLock receiveLock = new ReentrantLock();
        Semaphore handedOver = new Semaphore(0);
        AtomicInteger opened = new AtomicInteger();
        AtomicInteger taken = new AtomicInteger();
        pair.right().start(new ConnectionListener() {
            @Override
            public int onReadable() {
                if (!receiveLock.tryLock()) {
                    return 0;
                }
                try {
                    if (opened.get() > taken.get() || link.front() <= 0) {
                        return 0;
                    }
                    pair.right().receiveInterest(false);
                    opened.incrementAndGet();
                    handedOver.release();
                    return 1;
                } finally {
                    receiveLock.unlock();
                }
            }

            @Override
            public void onLost(LossKind kind, boolean orderly, String reason) {
                throw new AssertionError(reason);
            }
        });
        CompletableFuture<Void> user = inAnotherThread(() -> {
            while (taken.get() < count) {
                handedOver.acquireUninterruptibly();
                receiveLock.lock();
                link.skip(8);
                link.release();
                taken.incrementAndGet();
                pair.right().receiveInterest(true);
                receiveLock.unlock();
            }
        });
        CompletableFuture<Void> sender = inAnotherThread(() -> {
            SplittableRandom random = new SplittableRandom(15);
            for (int i = 0; i < count; i++) {
                send(pair.leftShort(), i);
                pause(random, 50);
            }
        });
        while (taken.get() < count && !user.isCompletedExceptionally()) {
            if (b.adapter.progress().poll(0) == 0) {
                assertFalse(b.sleepIsLost() && opened.get() == taken.get(), "nobody woke it for message " + taken);
            }
        }
        user.join();
        sender.join();
    }

    @Test
    @Tag("measures")
    void shouldAllocateNothingPerMessage() {
        Side.Pair pair = Side.Pair.of(a, b, "main");
        Reader reader = new Reader(pair.rightShort());
        Reader regular = new Reader(pair.rightRegular());
        pair.right().start(reader);
        BufferGroup group = new BufferGroup();
        MemorySegment block = MemorySegment.ofArray(new byte[20_000]);
        var threads = (com.sun.management.ThreadMXBean) java.lang.management.ManagementFactory.getThreadMXBean();
        long bytes = 0;
        int count = 20_000;
        for (int i = 0; i < 3 * count; i++) {
            if (i == 2 * count) {
                bytes = threads.getCurrentThreadAllocatedBytes();
            }
            send(pair.leftShort(), i);
            group.add(block, 0, 20_000);
            assertTrue(pair.leftRegular().send(PacketHeader.of(20_000, i, 0, 0), group, 0) == LinkStatus.COMPLETE);
            b.adapter.progress().poll(0);
            regular.onReadable();
            b.adapter.progress().armForBlocking();
            b.adapter.progress().disarm();
        }
        bytes = threads.getCurrentThreadAllocatedBytes() - bytes;
        assertEquals(3 * count, reader.received);
        assertTrue(bytes < count, bytes + " bytes for " + count + " messages");
    }
}
