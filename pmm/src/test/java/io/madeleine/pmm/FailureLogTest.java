package io.madeleine.pmm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.ResourceBundle;
import org.junit.jupiter.api.Test;

class FailureLogTest {
    private final List<String> lines = new ArrayList<>();
    private final FailureLog log = new FailureLog(new System.Logger() {
        @Override
        public String getName() {
            return "test";
        }

        @Override
        public boolean isLoggable(Level level) {
            return true;
        }

        @Override
        public void log(Level level, ResourceBundle bundle, String message, Throwable failure) {
            lines.add(message);
        }

        @Override
        public void log(Level level, ResourceBundle bundle, String format, Object... parameters) {
            lines.add(format);
        }
    });

    private static RuntimeException failure(int number) {
        return new IllegalStateException("number " + number);
    }

    /** For more than a second, and until so many lines have come: this thread may lose its processor. */
    private boolean goesOn(long beganNs, int wantedLines) {
        long elapsedNs = System.nanoTime() - beganNs;
        return elapsedNs < 1_200_000_000L || lines.size() < wantedLines && elapsedNs < 30_000_000_000L;
    }

    @Test
    void shouldLogOnceASecondAndTheNumberWhatFailsWithoutEnd() {
        long beganNs = System.nanoTime();
        int count = 0;
        while (goesOn(beganNs, 2)) {
            log.error("it failed", failure(count++));
        }
        long seconds = (System.nanoTime() - beganNs) / 1_000_000_000L;
        assertEquals("it failed", lines.getFirst());
        assertTrue(lines.size() >= 2 && lines.size() <= 1 + seconds, lines::toString);
        assertTrue(
                lines.get(1).matches("it failed .and [1-9][0-9]* times like that since this was last logged."),
                lines::toString);
    }

    @Test
    void shouldLogAtOnceWhatFailsInAnotherWay() {
        log.error("it failed", failure(1));
        log.error("it failed", new IllegalArgumentException());
        log.error("it failed", failure(2));
        log.error("it failed", new IllegalStateException("in another place"));
        assertEquals(4, lines.size());
    }

    @Test
    void shouldLogOnceASecondEachOfTwoFailuresThatAlternateWithTheirOwnCounts() {
        long beganNs = System.nanoTime();
        int count = 0;
        while (goesOn(beganNs, 4)) {
            log.error("this", failure(count++));
            log.error("that", new IllegalArgumentException());
            log.error("that", new IllegalArgumentException());
        }
        long seconds = (System.nanoTime() - beganNs) / 1_000_000_000L;
        assertTrue(lines.size() >= 4 && lines.size() <= 3 * (1 + seconds), lines::toString);
        assertEquals(
                List.of("this", "that"),
                lines.stream()
                        .filter(line -> !line.contains(" times "))
                        .distinct()
                        .toList());
    }

    @Test
    void shouldBoundItsEntriesHoweverManyFailuresDiffer() {
        long beganNs = System.nanoTime();
        for (int i = 0; i < 1_000; i++) {
            RuntimeException failure = new RuntimeException();
            failure.setStackTrace(new StackTraceElement[] {new StackTraceElement("A", "b", "A.java", i)});
            log.error("it failed", failure);
        }
        long seconds = (System.nanoTime() - beganNs) / 1_000_000_000L;
        assertTrue(lines.size() <= 10 * (1 + seconds), () -> lines.size() + " entries");
    }

    @Test
    void shouldFailNobodyIfLoggingFails() {
        FailureLog failing = new FailureLog(new System.Logger() {
            @Override
            public String getName() {
                return "failing";
            }

            @Override
            public boolean isLoggable(Level level) {
                return true;
            }

            @Override
            public void log(Level level, ResourceBundle bundle, String message, Throwable failure) {
                throw new LinkageError("as a test");
            }

            @Override
            public void log(Level level, ResourceBundle bundle, String format, Object... parameters) {
                throw new LinkageError("as a test");
            }
        });
        failing.error("it failed", failure(1));
    }
}
