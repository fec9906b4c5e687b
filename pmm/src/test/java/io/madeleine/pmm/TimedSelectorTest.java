package io.madeleine.pmm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.channels.Selector;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** How often a wait wakes up until it is over, and that it is never over early. */
class TimedSelectorTest {
    private static final int TIMES = 20;

    private Selector selector;
    private TimedSelector timed;

    @BeforeEach
    void open() throws IOException {
        selector = Selector.open();
        timed = new TimedSelector(selector);
    }

    @AfterEach
    void close() throws IOException {
        timed.close();
        selector.close();
    }

    @ParameterizedTest
    @ValueSource(longs = {985_000, 1_000_000, 3_990_000, 4_000_000, 9_900_000, 50_100_000})
    void shouldWakeUpOnceIfThatIsHardlyTooLate(long timeoutNs) throws IOException {
        for (int i = 0; i < TIMES; i++) {
            assertEquals(1, selectsUntilOver(timeoutNs));
        }
    }

    /** A wait that is over late, since the machine is busy, needs one. */
    @ParameterizedTest
    @ValueSource(longs = {1_600_000, 3_500_000, 20_500_000})
    @Tag("measures")
    void shouldWaitForTheRestOtherwise(long timeoutNs) throws IOException {
        int most = 0;
        for (int i = 0; i < 10 * TIMES && most < 2; i++) {
            most = Math.max(most, selectsUntilOver(timeoutNs));
        }
        assertTrue(most >= 2, "one select for each wait");
    }

    @Test
    void shouldEndAWaitWithoutLimitWhenItIsWoken() throws IOException {
        selector.wakeup();
        assertEquals(0, timed.select(_ -> {}, Long.MAX_VALUE));
        selector.wakeup();
        assertEquals(0, timed.select(_ -> {}, Long.MAX_VALUE - 1));
    }

    private int selectsUntilOver(long timeoutNs) throws IOException {
        long endNs = System.nanoTime() + timeoutNs;
        int selects = 0;
        for (long leftNs = timeoutNs; leftNs > 0; leftNs = endNs - System.nanoTime()) {
            timed.select(_ -> {}, leftNs);
            selects++;
        }
        return selects;
    }
}
