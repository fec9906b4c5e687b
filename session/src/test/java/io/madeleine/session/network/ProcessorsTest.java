package io.madeleine.session.network;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.madeleine.pmm.WaitMode;
import io.madeleine.pmm.WaitPolicy;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ProcessorsTest {
    private static final Processors FIRST = new Processors("0");
    private static final Processors SECOND = new Processors("1");
    private static final Processors FOUR = new Processors("0-1,4,7-7");
    private static final Processors UNKNOWN = new Processors("");

    @Test
    void shouldCountTheProcessorsThatProcessesBoundToOneEachHaveTogether() {
        assertEquals(2, Processors.together(FIRST, List.of(FIRST, SECOND), 1));
        assertEquals(1, Processors.together(FIRST, List.of(FIRST, FIRST), 1));
        assertEquals(4, Processors.together(SECOND, List.of(FOUR, SECOND), 1));
    }

    @Test
    void shouldCountNoMoreThanAQuotaLeaves() {
        assertEquals(2, Processors.together(FOUR, List.of(FOUR, FOUR), 2));
    }

    @Test
    void shouldGoByTheJvmWhereAProcessDoesNotKnow() {
        assertEquals(3, Processors.together(UNKNOWN, List.of(UNKNOWN, FOUR), 3));
        assertEquals(4, Processors.together(FOUR, List.of(FOUR, UNKNOWN), 4));
    }

    @Test
    void shouldTellWhetherThreadsShareOneProcessor() {
        assertTrue(FIRST.isOne(1));
        assertTrue(FIRST.isOne(2), "as where -XX:ActiveProcessorCount says more");
        assertTrue(FOUR.isOne(1), "as where a quota leaves one");
        assertFalse(FOUR.isOne(4));
        assertFalse(UNKNOWN.isOne(2));
    }

    @Test
    void shouldNotSpinWhereProcessesOutnumberProcessors() {
        WaitPolicy configured = new WaitPolicy(WaitMode.ADAPTIVE, 200_000, 20);
        WaitPolicy crowded = FOUR.waiting(configured, List.of(FOUR, FOUR, FOUR, FOUR, FOUR), 4);
        assertEquals(0, crowded.spinNs());
        assertTrue(crowded.crowded());
        assertEquals(configured, FOUR.waiting(configured, List.of(FOUR, FOUR, FOUR, FOUR), 4));
    }

    @ParameterizedTest
    @ValueSource(strings = {"x", "1-", "-1", "1,,2", "99999", "3-1", "0-9999999999", "1 2"})
    void shouldTakeAGarbledListAsUnknown(String list) {
        assertEquals(5, Processors.together(new Processors(list), List.of(new Processors(list)), 5));
    }

    @Test
    void shouldReadWhatTheKernelSays() {
        assumeTrue(Files.isReadable(Path.of("/proc/self/status")), "Linux only");
        assertFalse(Processors.ofThisProcess().list().isEmpty());
    }
}
