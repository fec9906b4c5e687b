package io.madeleine.switching;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.pmm.Waitable;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(value = 30, unit = TimeUnit.SECONDS)
class TurnQueueTest {
    private volatile boolean free;
    private volatile boolean vain;
    private final TurnQueue queue = new TurnQueue(Waitable::new, () -> free, () -> vain);

    private static <T> T inAnotherThread(Supplier<T> action) {
        return CompletableFuture.supplyAsync(action, task -> Thread.ofPlatform().start(task))
                .join();
    }

    private TurnQueue.Place joinInAnotherThread() {
        return inAnotherThread(() -> queue.join(false));
    }

    private static void pause(int millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private void awaitKept(boolean wanted) {
        while (queue.isKept() != wanted) {
            pause(1);
        }
    }

    @Test
    void shouldKeepTheTurnForTheFirstAfterAMoment() {
        assertFalse(queue.isKept());
        TurnQueue.Place place = queue.join(false);
        awaitKept(true);
        queue.leave(place);
        assertFalse(queue.isKept());
        assertNull(queue.first());
    }

    @Test
    void shouldPassByAFirstThatDoesNotComeUntilItIsBack() {
        TurnQueue.Place place = queue.join(false);
        awaitKept(true);
        queue.willBeFree();
        free = true;
        awaitKept(false);
        free = false;
        pause(5);
        assertFalse(queue.isKept());
        assertFalse(place.isMet());
        assertTrue(queue.isKept());
    }

    @Test
    void shouldServeThoseWhoWaitInTheirOrderWhoeverGivesUp() {
        Random random = new Random(7);
        List<TurnQueue.Place> expected = new ArrayList<>();
        free = true;
        for (int i = 0; i < 10_000; i++) {
            if (expected.isEmpty() || random.nextInt(10) < 5) {
                expected.add(queue.join(false));
            } else {
                queue.leave(expected.remove(random.nextInt(3) > 0 ? 0 : random.nextInt(expected.size())));
            }
            assertSame(expected.isEmpty() ? null : expected.getFirst(), queue.first());
            for (int at = 0; at < expected.size() && at < 3; at++) {
                assertSame(at == 0, expected.get(at).isMet());
            }
        }
    }

    @Test
    void shouldPutAHandlerBeforeTheThreadInWhichItRuns() {
        TurnQueue.Place other = joinInAnotherThread();
        TurnQueue.Place own = queue.join(false);
        TurnQueue.Place behind = joinInAnotherThread();
        TurnQueue.Place handlers = queue.join(true);
        TurnQueue.Place othersHandlers = inAnotherThread(() -> queue.join(true));
        for (TurnQueue.Place next : List.of(other, handlers, own, behind, othersHandlers)) {
            assertSame(next, queue.first());
            queue.leave(next);
        }
        assertNull(queue.first());
    }

    @Test
    void shouldEndAllWaitsThatAreInVain() {
        TurnQueue.Place place = queue.join(false);
        TurnQueue.Place behind = joinInAnotherThread();
        assertFalse(place.isMet() || behind.isMet());
        vain = true;
        assertTrue(place.isMet() && behind.isMet());
    }
}
