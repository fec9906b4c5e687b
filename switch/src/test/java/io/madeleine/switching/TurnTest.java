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
    private static final int FREE = 0;
    private static final int TAKEN = 1;
    private static final int KEPT = 2;
    private static final int IN_A_ROW = 4;

    private final AtomicInteger state = new AtomicInteger(FREE);
    private final CountDownLatch inFence = new CountDownLatch(1);
    private final CountDownLatch fencePassed = new CountDownLatch(1);
    private final AtomicInteger fences = new AtomicInteger();
    private final AtomicBoolean awaited = new AtomicBoolean();
    private final Turn turn = turn(() -> {
        inFence.countDown();
        await(fencePassed);
    });

    private Turn turn(Runnable fence) {
        return new Turn(state, FREE, KEPT, TAKEN, awaited::get, fence, IN_A_ROW);
    }

    private Turn turnThatCountsFences() {
        return turn(fences::incrementAndGet);
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
        assertEquals(KEPT, state.get());
        takeAndGiveBack(counting, 2 * IN_A_ROW);
        assertEquals(0, fences.get());
    }

    @Test
    void shouldKeepTheTurnForTheThreadThatComesOftenThoughAnotherCameOnce() throws Exception {
        Turn counting = turnThatCountsFences();
        takeAndGiveBack(counting, 1);
        takeAndGiveBackInAnotherThread(counting, 1);
        assertEquals(FREE, state.get(), "nobody's privilege");
        takeAndGiveBack(counting, IN_A_ROW - 1);
        assertEquals(FREE, state.get(), "not often enough");
        takeAndGiveBack(counting, 1);
        assertEquals(KEPT, state.get());
        assertEquals(1, fences.get());
    }

    @Test
    void shouldKeepTheTurnForNobodyWhileSomebodyWaits() throws Exception {
        Turn counting = turnThatCountsFences();
        awaited.set(true);
        takeAndGiveBack(counting, 3 * IN_A_ROW);
        assertEquals(FREE, state.get());
        awaited.set(false);
        takeAndGiveBack(counting, 1);
        assertEquals(KEPT, state.get());
    }

    @Test
    void shouldTakeThePrivilegeAwayFromWhomItWasGivenAsSomebodyBeganToWait() {
        AtomicInteger looks = new AtomicInteger();
        Turn raced = new Turn(state, FREE, KEPT, TAKEN, () -> looks.incrementAndGet() == 2, () -> {}, IN_A_ROW);
        takeAndGiveBack(raced, 1);
        assertEquals(2, looks.get());
        assertEquals(FREE, state.get());
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
        assertEquals(KEPT, state.get());
        fencePassed.countDown();
        second.get();
        assertTrue(third.get());
        assertEquals(TAKEN, state.get());
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
        assertEquals(FREE, state.get());
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
