package io.madeleine.switching;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(value = 30, unit = TimeUnit.SECONDS)
class TurnTest {
    private static final int FREE = 0;
    private static final int TAKEN = 1;

    private final AtomicInteger state = new AtomicInteger(FREE);
    private final CountDownLatch inFence = new CountDownLatch(1);
    private final CountDownLatch fencePassed = new CountDownLatch(1);
    private final Turn turn = new Turn(state, FREE, TAKEN, () -> {
        inFence.countDown();
        await(fencePassed);
    });

    @Test
    void shouldLetNobodyTakeTheTurnBeforeItsOnlyUserHasPassedTheFence() throws Exception {
        assertTrue(turn.tryTake()); // this thread alone
        turn.giveBack();
        var second = CompletableFuture.runAsync(turn::prepareToWait, TurnTest::inNewThread);
        await(inFence);
        var third = CompletableFuture.supplyAsync(turn::tryTake, TurnTest::inNewThread);
        assertThrows(TimeoutException.class, () -> third.get(200, TimeUnit.MILLISECONDS));
        assertEquals(FREE, state.get());
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
