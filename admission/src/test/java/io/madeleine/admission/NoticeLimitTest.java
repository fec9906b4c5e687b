package io.madeleine.admission;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class NoticeLimitTest {
    private static final long SECOND_NS = TimeUnit.SECONDS.toNanos(1);

    private final List<String> lines = new ArrayList<>();
    private final System.Logger logger = new LinesLogger(lines);

    /** The clock may begin anywhere, and wraps round. */
    @ParameterizedTest
    @ValueSource(longs = {0, 1, 500_000_000, -1, Long.MAX_VALUE - 1_500_000_000, Long.MIN_VALUE})
    void shouldLogTheFirstOfEachSecondAndCountTheOthers(long startNs) {
        NoticeLimit notices = new NoticeLimit(logger, "x: ");
        notices.warn("a", startNs);
        notices.warn("b", startNs);
        notices.warn("c", startNs + SECOND_NS - 1);
        notices.warn("d", startNs + SECOND_NS);
        notices.warn("e", startNs + 2 * SECOND_NS - 1);
        notices.warn("f", startNs + 3 * SECOND_NS);
        assertEquals(List.of("WARNING x: a (1 so far)", "WARNING x: d (4 so far)", "WARNING x: f (6 so far)"), lines);
        notices.close();
        notices.warn("g", startNs + 9 * SECOND_NS);
        assertEquals(3, lines.size());
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 100})
    @Tag("measures")
    void shouldLogOneOfManyAtOnce(int count) {
        NoticeLimit notices = new NoticeLimit(logger, "");
        long beganNs = System.nanoTime();
        for (int i = 0; i < count; i++) {
            notices.warn("many");
        }
        assertEquals("WARNING many (1 so far)", lines.getFirst());
        assertEquals(1 + (System.nanoTime() - beganNs) / SECOND_NS, lines.size(), 1);
    }
}
