package io.madeleine.switching;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(value = 30, unit = TimeUnit.SECONDS)
class BiasedSendLockTest {
    private static final int IN_A_ROW = 4;

    private final CountDownLatch inFence = new CountDownLatch(1);
    private final CountDownLatch fencePassed = new CountDownLatch(1);
    private final AtomicInteger fences = new AtomicInteger();
    private final AtomicBoolean awaited = new AtomicBoolean();
    private final BiasedSendLock lock = lock(() -> {
        inFence.countDown();
        await(fencePassed);
    });

    private BiasedSendLock lock(Runnable fence) {
        return new BiasedSendLock(awaited::get, fence, IN_A_ROW);
    }

    private BiasedSendLock lockThatCountsFences() {
        return lock(fences::incrementAndGet);
    }

    private static boolean isFreeForAll(BiasedSendLock lock) {
        return lock.isFree() && !lock.isBiased();
    }

    private static void takeAndRelease(BiasedSendLock lock, int times) {
        for (int i = 0; i < times; i++) {
            assertTrue(lock.tryTake());
            lock.release();
        }
    }

    private static void takeAndReleaseInAnotherThread(BiasedSendLock lock, int times) throws Exception {
        CompletableFuture.runAsync(() -> takeAndRelease(lock, times), BiasedSendLockTest::inNewThread)
                .get();
    }

    @Test
    void shouldKeepTheTurnForTheThreadThatHasComeFirst() {
        BiasedSendLock counting = lockThatCountsFences();
        takeAndRelease(counting, 1);
        assertTrue(counting.isBiased());
        takeAndRelease(counting, 2 * IN_A_ROW);
        assertEquals(0, fences.get());
    }

    @Test
    void shouldKeepTheTurnForTheThreadThatComesOftenThoughAnotherCameOnce() throws Exception {
        BiasedSendLock counting = lockThatCountsFences();
        takeAndRelease(counting, 1);
        takeAndReleaseInAnotherThread(counting, 1);
        assertTrue(isFreeForAll(counting), "nobody's privilege");
        takeAndRelease(counting, IN_A_ROW - 1);
        assertTrue(isFreeForAll(counting), "not often enough");
        takeAndRelease(counting, 1);
        assertTrue(counting.isBiased());
        assertEquals(1, fences.get());
    }

    @Test
    void shouldKeepTheTurnForNobodyWhileSomebodyWaits() throws Exception {
        BiasedSendLock counting = lockThatCountsFences();
        awaited.set(true);
        takeAndRelease(counting, 3 * IN_A_ROW);
        assertTrue(isFreeForAll(counting));
        awaited.set(false);
        takeAndRelease(counting, 1);
        assertTrue(counting.isBiased());
    }

    @Test
    void shouldTakeThePrivilegeAwayFromWhomItWasGivenAsSomebodyBeganToWait() {
        AtomicInteger looks = new AtomicInteger();
        BiasedSendLock raced = new BiasedSendLock(() -> looks.incrementAndGet() == 2, () -> {}, IN_A_ROW);
        takeAndRelease(raced, 1);
        assertEquals(2, looks.get());
        assertTrue(isFreeForAll(raced));
    }

    @Test
    void shouldPassFewFencesThoughThreadsComeInTurns() throws Exception {
        BiasedSendLock counting = lockThatCountsFences();
        for (int i = 0; i < 100; i++) {
            takeAndRelease(counting, 2 * IN_A_ROW);
            takeAndReleaseInAnotherThread(counting, 2 * IN_A_ROW);
        }
        assertTrue(fences.get() <= 3, fences + " fences");
    }

    @Test
    void shouldLetNobodyTakeTheTurnBeforeItsOnlyUserHasPassedTheFence() throws Exception {
        assertTrue(lock.tryTake()); // this thread alone
        lock.release();
        var second = CompletableFuture.runAsync(lock::prepareToWait, BiasedSendLockTest::inNewThread);
        await(inFence);
        var third = CompletableFuture.supplyAsync(lock::tryTake, BiasedSendLockTest::inNewThread);
        assertThrows(TimeoutException.class, () -> third.get(200, TimeUnit.MILLISECONDS));
        assertTrue(lock.isBiased());
        fencePassed.countDown();
        second.get();
        assertTrue(third.get());
        assertTrue(lock.isTaken());
    }

    @Test
    void shouldLetNobodyWaitForTheTurnBeforeItsOnlyUserHasPassedTheFence() throws Exception {
        assertTrue(lock.tryTake());
        var second = CompletableFuture.runAsync(lock::prepareToWait, BiasedSendLockTest::inNewThread);
        await(inFence);
        var third = CompletableFuture.runAsync(lock::prepareToWait, BiasedSendLockTest::inNewThread);
        assertThrows(TimeoutException.class, () -> third.get(200, TimeUnit.MILLISECONDS));
        fencePassed.countDown();
        second.get();
        third.get();
        lock.release();
        assertTrue(isFreeForAll(lock));
    }

    @Test
    void shouldBeFreeForAllOnceTheLockThatWasHandedOverIsReleasedEvenByItsOnlyUser() {
        assertTrue(lock.tryTake());
        lock.handOver();
        assertTrue(lock.isHandedOver());
        lock.release();
        assertTrue(isFreeForAll(lock));
        assertTrue(lock.tryTake());
    }

    private static void inNewThread(Runnable task) {
        Thread.ofPlatform().daemon().start(task);
    }

    private static void await(CountDownLatch latch) {
        try {
            assertTrue(latch.await(20, TimeUnit.SECONDS));
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
