package io.madeleine.tm.tcp;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

/** When messages are taken for a dense stream, by a clock that stands still unless it is told not to. */
class DensityTest {
    private static final long COALESCE_NS = 20_000;
    private static final long WITHIN_NS = 200;
    private static final long PAUSE_NS = 6_000;

    /** What writing kept messages over the loopback takes. */
    private static final long WRITE_NS = 9_000;

    private final Density density = new Density(COALESCE_NS, this::now);
    private long nowNs = 1_000_000_000;

    private long now() {
        return nowNs;
    }

    private boolean nextAfter(long pauseNs) {
        nowNs += pauseNs;
        return density.next(0);
    }

    /** A message that leaves at once if it is not kept. */
    private boolean send(long pauseNs) {
        boolean kept = nextAfter(pauseNs);
        if (!kept) {
            nowNs += WRITE_NS;
            density.written();
        }
        return kept;
    }

    private void stream(int messages) {
        for (int i = 0; i < messages; i++) {
            send(WITHIN_NS);
        }
    }

    @Test
    void shouldTakeMessagesInARowForAStreamThoughEachWriteTakesLongerThanTheyMayBeApart() {
        stream(Density.RUN);
        assertTrue(send(WITHIN_NS));
    }

    @Test
    void shouldStayDenseWhenWhatWasKeptIsWritten() {
        stream(3 * Density.RUN);
        nextAfter(WITHIN_NS);
        nowNs += WRITE_NS;
        density.written();
        assertTrue(nextAfter(WITHIN_NS), "the message behind a write is as close as any");
    }

    @Test
    void shouldLetAMessageAfterAPauseLeaveAtOnceAndKeepTheNext() {
        stream(4 * Density.RUN);
        assertFalse(send(PAUSE_NS));
        assertTrue(send(WITHIN_NS));
    }

    @Test
    void shouldEndAStreamAfterSomePauses() {
        stream(4 * Density.RUN);
        for (int i = 0; i < 3; i++) {
            assertFalse(send(PAUSE_NS));
        }
        assertFalse(send(WITHIN_NS));
    }

    @Test
    void shouldNotTakeAConversationForAStream() {
        for (int i = 0; i < 4 * Density.RUN; i++) {
            nowNs += WITHIN_NS;
            assertFalse(density.next(i + 1));
            density.written();
        }
    }

    @Test
    void shouldEndAStreamWhenItsSenderWaitsWithHardlyAnythingKept() {
        stream(4 * Density.RUN);
        density.waits(1);
        assertFalse(send(WITHIN_NS));
    }
}
