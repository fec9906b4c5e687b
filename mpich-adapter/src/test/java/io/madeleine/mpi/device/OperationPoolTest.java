package io.madeleine.mpi.device;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.api.Signal;
import java.lang.reflect.Proxy;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

/** Operations go from those who are done to those who begin, each to one at a time. */
class OperationPoolTest {
    private final Signal signal = (Signal)
            Proxy.newProxyInstance(Signal.class.getClassLoader(), new Class<?>[] {Signal.class}, (_, _, _) -> null);
    private final OperationPool<ReceiveOperation> pool = new OperationPool<>();

    private ReceiveOperation operation() {
        return new ReceiveOperation(signal, new OperationTable<>(), 0);
    }

    private static <T> T inAnotherThread(Supplier<T> work) {
        return CompletableFuture.supplyAsync(work, task -> Thread.ofPlatform().start(task))
                .join();
    }

    @Test
    void shouldHandOutWhatItsThreadHasGivenBack() {
        for (int i = 0; i < 3; i++) {
            pool.give(operation());
        }
        Set<ReceiveOperation> taken = Collections.newSetFromMap(new IdentityHashMap<>());
        for (int i = 0; i < 3; i++) {
            assertTrue(taken.add(pool.take()), "it was handed out twice");
        }
        assertNull(pool.take());
    }

    /** The first thread has places of its own; what others give back is for all. */
    @Test
    void shouldHandOutToEachThreadWhatOthersHaveGivenBack() {
        pool.give(operation());
        ReceiveOperation ofAnother = operation();
        inAnotherThread(() -> {
            pool.give(ofAnother);
            return true;
        });
        ReceiveOperation first = pool.take();
        assertNotSame(first, pool.take());
        assertNull(pool.take());
        pool.give(first); // its own place
        assertNull(inAnotherThread(pool::take));
        assertEquals(first, pool.take());
    }

    @Test
    void shouldNotHandOutOneThatFailsOrRuns() {
        ReceiveOperation running = operation();
        running.start();
        pool.give(running);
        ReceiveOperation failed = operation();
        failed.start();
        failed.failedAt(1, 15);
        pool.give(failed);
        assertNull(pool.take());
    }
}
