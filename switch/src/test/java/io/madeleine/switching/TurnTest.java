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
class TurnTest {
    private static final int IN_A_ROW = 4;

    private final CountDownLatch inFence = new CountDownLatch(1);
    private final CountDownLatch fencePassed = new CountDownLatch(1);
    private final AtomicInteger fences = new AtomicInteger();
    private final AtomicBoolean awaited = new AtomicBoolean();
    private final Turn turn = turn(() -> {
        inFence.countDown();
        await(fencePassed);
    });

    private Turn turn(Runnable fence) {
        return new Turn(awaited::get, fence, IN_A_ROW);
    }

    private Turn turnThatCountsFences() {
        return turn(fences::incrementAndGet);
    }

    private static boolean isFreeForAll(Turn turn) {
        return turn.isFree() && !turn.isKept();
    }

    private static void takeAndGiveBack(Turn turn, int times) {
        for (int i = 0; i < times; i++) {
            assertTrue(turn.tryTake());
            turn.giveBack();
        }
    }

    private static void takeAndGiveBackInAnotherThread(Turn turn, int times) throws Exception {
        CompletableFuture.runAsync(() -> takeAndGiveBack(turn, times), TurnTest::inNewThread)
                .get();
    }

    @Test
    void shouldKeepTheTurnForTheThreadThatHasComeFirst() {
        Turn counting = turnThatCountsFences();
        takeAndGiveBack(counting, 1);
        assertTrue(counting.isKept());
        takeAndGiveBack(counting, 2 * IN_A_ROW);
        assertEquals(0, fences.get());
    }

    @Test
    void shouldKeepTheTurnForTheThreadThatComesOftenThoughAnotherCameOnce() throws Exception {
        Turn counting = turnThatCountsFences();
        takeAndGiveBack(counting, 1);
        takeAndGiveBackInAnotherThread(counting, 1);
        assertTrue(isFreeForAll(counting), "nobody's privilege");
        takeAndGiveBack(counting, IN_A_ROW - 1);
        assertTrue(isFreeForAll(counting), "not often enough");
        takeAndGiveBack(counting, 1);
        assertTrue(counting.isKept());
        assertEquals(1, fences.get());
    }

    @Test
    void shouldKeepTheTurnForNobodyWhileSomebodyWaits() throws Exception {
        Turn counting = turnThatCountsFences();
        awaited.set(true);
        takeAndGiveBack(counting, 3 * IN_A_ROW);
        assertTrue(isFreeForAll(counting));
        awaited.set(false);
        takeAndGiveBack(counting, 1);
        assertTrue(counting.isKept());
    }

    @Test
    void shouldTakeThePrivilegeAwayFromWhomItWasGivenAsSomebodyBeganToWait() {
        AtomicInteger looks = new AtomicInteger();
        Turn raced = new Turn(() -> looks.incrementAndGet() == 2, () -> {}, IN_A_ROW);
        takeAndGiveBack(raced, 1);
        assertEquals(2, looks.get());
        assertTrue(isFreeForAll(raced));
    }

    @Test
    void shouldPassFewFencesThoughThreadsComeInTurns() throws Exception {
        Turn counting = turnThatCountsFences();
        for (int i = 0; i < 100; i++) {
            takeAndGiveBack(counting, 2 * IN_A_ROW);
            takeAndGiveBackInAnotherThread(counting, 2 * IN_A_ROW);
        }
        assertTrue(fences.get() <= 3, fences + " fences");
    }

    @Test
    void shouldLetNobodyTakeTheTurnBeforeItsOnlyUserHasPassedTheFence() throws Exception {
        assertTrue(turn.tryTake()); // this thread alone
        turn.giveBack();
        var second = CompletableFuture.runAsync(turn::prepareToWait, TurnTest::inNewThread);
        await(inFence);
        var third = CompletableFuture.supplyAsync(turn::tryTake, TurnTest::inNewThread);
        assertThrows(TimeoutException.class, () -> third.get(200, TimeUnit.MILLISECONDS));
        assertTrue(turn.isKept());
        fencePassed.countDown();
        second.get();
        assertTrue(third.get());
        assertTrue(turn.isTaken());
    }

    @Test
    void shouldLetNobodyWaitForTheTurnBeforeItsOnlyUserHasPassedTheFence() throws Exception {
        assertTrue(turn.tryTake());
        var second = CompletableFuture.runAsync(turn::prepareToWait, TurnTest::inNewThread);
        await(inFence);
        var third = CompletableFuture.runAsync(turn::prepareToWait, TurnTest::inNewThread);
        assertThrows(TimeoutException.class, () -> third.get(200, TimeUnit.MILLISECONDS));
        fencePassed.countDown();
        second.get();
        third.get();
        turn.giveBack();
        assertTrue(isFreeForAll(turn));
    }

    @Test
    void shouldBeFreeForAllOnceTheTurnThatWasHandedOnIsGivenBackEvenByItsOnlyUser() {
        assertTrue(turn.tryTake());
        turn.handOn();
        assertTrue(turn.isHandedOn());
        turn.giveBack();
        assertTrue(isFreeForAll(turn));
        assertTrue(turn.tryTake());
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
