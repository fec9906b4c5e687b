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
class SendLockQueueTest {
    private volatile boolean free;
    private volatile boolean vain;
    private final SendLockQueue queue = new SendLockQueue(Waitable::new, () -> free, () -> vain);

    private static <T> T inAnotherThread(Supplier<T> action) {
        return CompletableFuture.supplyAsync(action, task -> Thread.ofPlatform().start(task))
                .join();
    }

    private SendLockQueue.Place joinInAnotherThread() {
        return inAnotherThread(() -> queue.join(false));
    }

    private static void pause(int millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private void awaitReserved(boolean wanted) {
        while (queue.isReserved() != wanted) {
            pause(1);
        }
    }

    @Test
    void shouldKeepTheTurnForTheFirstAfterAMoment() {
        assertFalse(queue.isReserved());
        SendLockQueue.Place place = queue.join(false);
        awaitReserved(true);
        queue.leave(place);
        assertFalse(queue.isReserved());
        assertNull(queue.first());
    }

    @Test
    void shouldPassByAFirstThatDoesNotComeUntilItIsBack() {
        SendLockQueue.Place place = queue.join(false);
        awaitReserved(true);
        queue.willBeFree();
        free = true;
        awaitReserved(false);
        free = false;
        pause(5);
        assertFalse(queue.isReserved());
        assertFalse(place.isMet());
        assertTrue(queue.isReserved());
    }

    @Test
    void shouldServeThoseWhoWaitInTheirOrderWhoeverGivesUp() {
        Random random = new Random(7);
        List<SendLockQueue.Place> expected = new ArrayList<>();
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
        SendLockQueue.Place other = joinInAnotherThread();
        SendLockQueue.Place own = queue.join(false);
        SendLockQueue.Place behind = joinInAnotherThread();
        SendLockQueue.Place handlers = queue.join(true);
        SendLockQueue.Place othersHandlers = inAnotherThread(() -> queue.join(true));
        for (SendLockQueue.Place next : List.of(other, handlers, own, behind, othersHandlers)) {
            assertSame(next, queue.first());
            queue.leave(next);
        }
        assertNull(queue.first());
    }

    @Test
    void shouldEndAllWaitsThatAreInVain() {
        SendLockQueue.Place place = queue.join(false);
        SendLockQueue.Place behind = joinInAnotherThread();
        assertFalse(place.isMet() || behind.isMet());
        vain = true;
        assertTrue(place.isMet() && behind.isMet());
    }
}
