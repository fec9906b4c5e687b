package io.madeleine.pmm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Who makes sure of room sees that there is none. */
@Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class StackRoomTest {
    private static final long ENOUGH_TO_BE_COMPILED_NS = 300_000_000;
    private static final long STACK_BYTES = 256 << 10;

    private int successes;
    private int seen;

    private void closeOne() {
        boolean begun = false;
        try {
            StackRoom.ensureToClose();
            begun = true;
        } finally {
            if (!begun) {
                seen++;
            }
        }
        successes++;
    }

    @SuppressWarnings("InfiniteRecursion") // that is what it is for
    private void dive() {
        try {
            dive();
        } catch (StackOverflowError _) {
            // up from here
        }
        if (successes == 0) {
            try {
                closeOne();
            } catch (StackOverflowError _) {
                // a frame more room
            }
        }
    }

    @Test
    void shouldHaveCompiledCodeSeeThatThereIsNoRoomToClose() throws Exception {
        long startNs = System.nanoTime();
        while (System.nanoTime() - startNs < ENOUGH_TO_BE_COMPILED_NS) {
            closeOne();
        }
        assertEquals(0, seen);
        for (int i = 0; i < 3; i++) {
            seen = 0;
            successes = 0;
            Thread diver = new Thread(null, this::dive, "diver", STACK_BYTES);
            diver.start();
            diver.join();
            assertEquals(1, successes);
            assertTrue(seen > 0, "a close failed, and only its caller has seen that");
        }
    }
}
