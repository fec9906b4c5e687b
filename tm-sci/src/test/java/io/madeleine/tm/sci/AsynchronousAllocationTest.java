package io.madeleine.tm.sci;

import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import io.madeleine.api.Channel;
import io.madeleine.api.Completion;
import io.madeleine.api.IncomingMessage;
import io.madeleine.api.OutgoingMessage;
import io.madeleine.api.ReceiveMode;
import io.madeleine.api.SendMode;
import io.madeleine.pmm.WaitMode;
import io.madeleine.pmm.WaitPolicy;
import io.madeleine.testkit.messages.LocalSessions;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What messages cost in garbage whose begins and ends are asynchronous, and of different threads. */
@Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@Tag("measures")
class AsynchronousAllocationTest {
    private static final int MESSAGES = 1_000;
    private static final int MEASUREMENTS = 6;

    /** What the JVM allocates in the background, in the quietest of several spans of time. */
    private static final long TINY_BYTES = 4_000;

    @TempDir
    Path directory;

    private final Arena arena = Arena.ofShared();
    private final MemorySegment sent = arena.allocate(8);
    private final MemorySegment received = arena.allocate(8);

    /** What the two threads hand each other. */
    private OutgoingMessage outgoing;

    private IncomingMessage incoming;

    /** The number of the next step; each thread does every other one. */
    private volatile int step;

    /** The two threads, each of which parks while it is the other's turn. */
    private final Thread[] threads = new Thread[2];

    @AfterEach
    void free() {
        arena.close();
    }

    @Test
    void shouldAllocateNothingForMessagesThatOneThreadBeginsAndAnotherEnds() throws Exception {
        SciConfig config = SciConfig.from(Side.config(directory, Mortal.SETTINGS));
        try (LocalSessions sessions = LocalSessions.of(2)
                .network("sci", _ -> new SciPmm(config))
                .channel("default", "sci")
                .waiting(new WaitPolicy(WaitMode.ADAPTIVE, 20_000, 10))
                .open()) {
            Channel sender = sessions.channel(0);
            Channel receiver = sessions.channel(1);
            threads[0] = Thread.currentThread();
            CompletableFuture<Void> other = new CompletableFuture<>();
            threads[1] = Thread.ofPlatform()
                    .unstarted(() -> other.completeAsync(
                            () -> {
                                work(1, sender, receiver, MEASUREMENTS * MESSAGES);
                                return null;
                            },
                            Runnable::run));
            threads[1].start();
            ThreadMXBean allocation = (ThreadMXBean) ManagementFactory.getThreadMXBean();
            long leastBytes = Long.MAX_VALUE;
            for (int i = 1; i <= MEASUREMENTS; i++) {
                long beforeBytes = allocation.getTotalThreadAllocatedBytes();
                work(0, sender, receiver, i * MESSAGES);
                leastBytes = Math.min(leastBytes, allocation.getTotalThreadAllocatedBytes() - beforeBytes);
            }
            other.get();
            outgoing.close();
            assertTrue(leastBytes <= TINY_BYTES, leastBytes + " bytes for " + MESSAGES + " messages");
        }
    }

    /** Every other step, until that one: ends the message that the other thread has begun, and begins the next. */
    private void work(int remainder, Channel sender, Channel receiver, int end) {
        for (int i = step; i < end; i = step) {
            if (i % 2 != remainder) {
                LockSupport.park();
                continue;
            }
            if (outgoing != null) {
                Completion isSent = outgoing.endPackingAsync();
                isSent.await();
                outgoing.close();
                while (incoming == null) {
                    incoming = receiver.tryBeginUnpacking().orElse(null);
                }
                incoming.unpack(received, SendMode.CHEAPER, ReceiveMode.CHEAPER);
                Completion isReceived = incoming.endUnpackingAsync();
                isReceived.await();
                incoming.close();
                incoming = null;
            }
            outgoing = sender.tryBeginPacking(1).orElseThrow();
            outgoing.pack(sent, SendMode.CHEAPER, ReceiveMode.CHEAPER);
            step = i + 1;
            LockSupport.unpark(threads[1 - remainder]);
        }
    }
}
