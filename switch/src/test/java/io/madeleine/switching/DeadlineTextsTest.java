package io.madeleine.switching;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.api.Channel;
import io.madeleine.api.DeadlineExceededException;
import io.madeleine.api.IncomingMessage;
import io.madeleine.api.OutgoingMessage;
import io.madeleine.api.ReceiveMode;
import io.madeleine.api.SendMode;
import io.madeleine.pmm.spi.AggregationMode;
import io.madeleine.testkit.LoopTm;
import io.madeleine.testkit.messages.LocalSessions;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.function.Executable;

/** What a wait that reaches its deadline says of the blocks of its message. */
@Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class DeadlineTextsTest {
    private static void checkSays(String part, Executable late) {
        String text = String.valueOf(
                assertThrows(DeadlineExceededException.class, late).getMessage());
        assertTrue(text.contains(part), text);
    }

    @Test
    void shouldSayHowManyBlocksThereAre() {
        try (LocalSessions sessions = LocalSessions.of(2)
                .loop("loop", List.of(LoopTm.withStaticBuffers("short", AggregationMode.SYMMETRIC, 112, 1024)))
                .open()) {
            Channel here = sessions.channel(0);
            OutgoingMessage out = here.beginPacking(1);
            checkSays("(no block is packed)", () -> here.beginPacking(1, 1, TimeUnit.MILLISECONDS));
            out.packInt(1);
            checkSays("(1 block is packed, into loop/short)", () -> here.beginPacking(1, 1, TimeUnit.MILLISECONDS));
            out.pack(MemorySegment.ofArray(new byte[4096]), SendMode.CHEAPER, ReceiveMode.EXPRESS);
            checkSays(
                    "(2 blocks are packed, the last into loop/short)",
                    () -> here.beginPacking(1, 1, TimeUnit.MILLISECONDS));
            out.close();
        }
    }

    @Test
    void shouldSayHowManyBlocksAreMissing() {
        checkMissing(1, "bytes of 1 block are missing, from loop/short");
        checkMissing(2, "bytes of 2 blocks are missing, the last from loop/short");
    }

    private static void checkMissing(int blocks, String text) {
        try (LocalSessions sessions = LocalSessions.of(2)
                .loop("loop", List.of(LoopTm.withStaticBuffers("short", AggregationMode.SYMMETRIC, 112, 1024)))
                .open()) {
            OutgoingMessage out = sessions.channel(0).beginPacking(1);
            out.pack(MemorySegment.ofArray(new byte[4096]), SendMode.CHEAPER, ReceiveMode.EXPRESS);
            try (IncomingMessage in = sessions.channel(1).beginUnpacking(0)) {
                in.within(1, TimeUnit.MILLISECONDS);
                in.unpack(MemorySegment.ofArray(new byte[8192]), SendMode.CHEAPER, ReceiveMode.CHEAPER);
                for (int i = 1; i < blocks; i++) {
                    in.unpack(MemorySegment.ofArray(new byte[40]), SendMode.CHEAPER, ReceiveMode.CHEAPER);
                }
                checkSays(text, in::endUnpacking);
            }
            out.close();
        }
    }
}
