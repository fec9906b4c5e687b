package io.madeleine.testkit.messages;

import static io.madeleine.testkit.messages.TestThreads.eventually;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.madeleine.testkit.messages.TestThreads.Body;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;

/** The number of running handler calls, its maximum, and the number of the next message. */
final class HandlerCalls {
    final AtomicInteger running = new AtomicInteger();
    final AtomicInteger most = new AtomicInteger();
    final AtomicInteger next = new AtomicInteger();
    final ConcurrentLinkedQueue<Throwable> failures = new ConcurrentLinkedQueue<>();

    void within(Body body) {
        most.accumulateAndGet(running.incrementAndGet(), Math::max);
        try {
            body.run();
        } catch (Throwable e) {
            failures.add(e);
        } finally {
            running.decrementAndGet();
        }
    }

    void check(int count) {
        eventually("all messages are handled", () -> next.get() == count || !failures.isEmpty());
        assertEquals(List.of(), List.copyOf(failures));
        assertEquals(1, most.get(), "handlers at a time");
    }
}
