package io.madeleine.tm.sci;

import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import io.madeleine.api.Channel;
import io.madeleine.api.ReceiveMode;
import io.madeleine.api.SendMode;
import io.madeleine.testkit.messages.LocalSessions;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What messages cost in garbage that are sent and received by one call. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
@Tag("measures")
class WholeMessageAllocationTest {
    private static final int MESSAGES = 2_000;
    private static final int MEASUREMENTS = 10;

    @TempDir
    Path directory;

    @Test
    void shouldAllocateNothingForMessagesOfOneCall() {
        SciConfig config = SciConfig.from(Side.config(directory, Mortal.SETTINGS));
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        try (Arena arena = Arena.ofConfined();
                LocalSessions sessions = LocalSessions.of(2)
                        .network("sci", _ -> new SciPmm(config))
                        .channel("default", "sci")
                        .open()) {
            Channel sender = sessions.channel(0);
            Channel receiver = sessions.channel(1);
            MemorySegment sent = arena.allocate(8);
            MemorySegment received = arena.allocate(8);
            double best = Double.MAX_VALUE;
            for (int i = 0; i < MEASUREMENTS; i++) {
                long before = threads.getCurrentThreadAllocatedBytes();
                for (int j = 0; j < MESSAGES; j++) {
                    sender.send(1, sent, SendMode.CHEAPER, ReceiveMode.CHEAPER);
                    receiver.receive(received, SendMode.CHEAPER, ReceiveMode.CHEAPER);
                }
                best = Math.min(best, (threads.getCurrentThreadAllocatedBytes() - before) / (double) MESSAGES);
            }
            assertTrue(best < 1, best + " bytes for a message");
        }
    }
}
