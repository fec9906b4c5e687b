package io.madeleine.switching;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.madeleine.api.IncomingMessage;
import io.madeleine.api.OutgoingMessage;
import io.madeleine.pmm.spi.AggregationMode;
import io.madeleine.pmm.spi.LinkMode;
import io.madeleine.testkit.LoopTm;
import io.madeleine.testkit.messages.LocalSessions;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ChannelShutdownTest {
    /** More than a connection takes while nobody receives. */
    private static final int LARGE = 8 << 20;

    /** The time for draining; long enough for a busy machine. */
    private static final long QUIET_NS = 3_000_000_000L;

    private static MemorySegment block() {
        return MemorySegment.ofArray(new byte[LARGE]);
    }

    @Test
    @Tag("measures")
    void shouldDrainDiscardedMessagesHoweverLongItHasTakenToSendWhatWasPromised() throws Exception {
        LoopTm group =
                LoopTm.withDynamicBuffers("group", LinkMode.BUFFER_GROUP, AggregationMode.SYMMETRIC, Long.MAX_VALUE);
        try (LocalSessions sessions =
                LocalSessions.of(3).quiet(QUIET_NS).loop("loop", List.of(group)).open()) {
            SwitchedChannel leaving = (SwitchedChannel) sessions.channel(0);
            try (OutgoingMessage promised = leaving.beginPacking(1)) {
                promised.packInt(1).pack(block()).endPackingAsync();
            }
            OutgoingMessage toBeDiscarded = sessions.channel(2).beginPacking(0).packInt(1);
            leaving.beginUnpacking(2).close();
            CompletableFuture<Void> closing =
                    CompletableFuture.runAsync(() -> sessions.session(0).close());
            while (!leaving.isClosing()) {
                Thread.onSpinWait();
            }
            Thread.sleep(Duration.ofNanos(QUIET_NS)); // the receiver takes its time
            try (IncomingMessage in = sessions.channel(1).beginUnpacking(0)) {
                assertEquals(1, in.unpackInt());
                in.unpack(block()).endUnpacking();
            }
            toBeDiscarded.pack(block()).endPacking();
            toBeDiscarded.close();
            closing.get(30, TimeUnit.SECONDS);
        }
    }
}
