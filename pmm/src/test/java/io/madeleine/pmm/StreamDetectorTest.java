package io.madeleine.pmm;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

/** When messages are taken for a dense stream, by a clock that stands still unless it is told not to. */
class StreamDetectorTest {
    private static final long COALESCE_NS = 20_000;
    private static final long WITHIN_NS = 200;
    private static final long PAUSE_NS = 6_000;

    /** What writing kept messages over the loopback takes. */
    private static final long WRITE_NS = 9_000;

    private final StreamDetector detector = new StreamDetector(COALESCE_NS, this::now);
    private long nowNs = 1_000_000_000;

    private long now() {
        return nowNs;
    }

    private boolean nextAfter(long pauseNs) {
        nowNs += pauseNs;
        return detector.next(0);
    }

    /** A message that leaves at once if it is not kept. */
    private boolean send(long pauseNs) {
        boolean kept = nextAfter(pauseNs);
        if (!kept) {
            nowNs += WRITE_NS;
            detector.written();
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
        stream(StreamDetector.RUN);
        assertTrue(send(WITHIN_NS));
    }

    @Test
    void shouldStayDenseWhenWhatWasKeptIsWritten() {
        stream(3 * StreamDetector.RUN);
        nextAfter(WITHIN_NS);
        nowNs += WRITE_NS;
        detector.written();
        assertTrue(nextAfter(WITHIN_NS), "the message behind a write is as close as any");
    }

    @Test
    void shouldLetAMessageAfterAPauseLeaveAtOnceAndKeepTheNext() {
        stream(4 * StreamDetector.RUN);
        assertFalse(send(PAUSE_NS));
        assertTrue(send(WITHIN_NS));
    }

    @Test
    void shouldEndAStreamAfterSomePauses() {
        stream(4 * StreamDetector.RUN);
        for (int i = 0; i < 3; i++) {
            assertFalse(send(PAUSE_NS));
        }
        assertFalse(send(WITHIN_NS));
    }

    @Test
    void shouldNotTakeAConversationForAStream() {
        for (int i = 0; i < 4 * StreamDetector.RUN; i++) {
            nowNs += WITHIN_NS;
            assertFalse(detector.next(i + 1));
            detector.written();
        }
    }

    @Test
    void shouldEndAStreamWhenItsSenderWaitsWithHardlyAnythingKept() {
        stream(4 * StreamDetector.RUN);
        detector.waits(1);
        assertFalse(send(WITHIN_NS));
    }

    @Test
    void shouldTakeAStreamForFastOnlyWhileItIsDenseAndItsMessagesAreClose() {
        stream(StreamDetector.RUN - 1);
        assertFalse(detector.isFast(), "not dense yet");
        stream(2);
        assertTrue(detector.isFast());
        assertTrue(send(COALESCE_NS / 32 + WITHIN_NS), "still dense");
        assertFalse(detector.isFast(), "some way apart");
        send(WITHIN_NS);
        assertTrue(detector.isFast());
        detector.waits(1);
        assertFalse(detector.isFast(), "a conversation");
    }
}
