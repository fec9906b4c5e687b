package io.madeleine.pmm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;

class AttemptsTest {
    @Test
    void shouldKeepTheFailureThatCountsAndSuppressTheOthersInIt() {
        RuntimeException exception = new IllegalStateException("first");
        RuntimeException second = new IllegalStateException("second");
        Error error = new AssertionError("an error");
        Error later = new AssertionError("a later error");
        Attempts attempts = new Attempts();
        attempts.rethrow();
        assertEquals(null, attempts.failure());
        attempts.take(() -> {});
        assertEquals(null, attempts.failure());
        attempts.take(() -> {
            throw exception;
        });
        assertEquals(exception, attempts.failure());
        attempts.add(exception); // not suppressed in itself
        attempts.add(second);
        assertEquals(exception, attempts.failure());
        assertEquals(exception, assertThrows(IllegalStateException.class, attempts::rethrow));
        attempts.add(error);
        attempts.add(later);
        attempts.add(second);
        assertEquals(error, attempts.failure());
        assertEquals(error, assertThrows(AssertionError.class, attempts::rethrow));
        assertEquals(
                "[java.lang.IllegalStateException: second]",
                List.of(exception.getSuppressed()).toString());
        assertEquals(List.of(exception, later, second), List.of(error.getSuppressed()));

        Attempts checked = new Attempts();
        checked.add(new IOException("not thrown on"));
        checked.rethrow();
        assertEquals("not thrown on", checked.failure().getMessage());
    }
}
