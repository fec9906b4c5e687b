package io.madeleine.testkit.messages;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/** What failed in actions and threads of a test, which cannot throw it to the test. */
final class Failures {
    private final Queue<Throwable> all = new ConcurrentLinkedQueue<>();

    void add(Throwable failure) {
        all.add(failure);
    }

    void assertNone() {
        assertEquals(List.of(), List.copyOf(all));
    }
}
