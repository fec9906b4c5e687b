package io.madeleine.integration;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.api.Channel;
import io.madeleine.api.Completion;
import io.madeleine.api.IncomingMessage;
import io.madeleine.api.Session;
import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Both ends leave 64 MiB to the session and compute without a call for two seconds: the transfer is over before. */
@Tag("quiet")
@Tag("measures")
class ComputingIT {
    private static final long COMPUTED_MS = 2_000;
    private static final long MAX_IDLE_PERMILLE = 10;

    @ParameterizedTest
    @ValueSource(strings = {"sci", "dma"})
    void shouldTransferWhileBothEndsCompute(String memory) throws Exception {
        try (Processes processes = Ranks.of(2, Program.class)
                .over(memory)
                .with("channels.sockets.network=tcp")
                .start()) {
            processes.assertSuccess();
            for (int rank = 0; rank < 2; rank++) {
                for (String channel : List.of("default", "sockets")) {
                    long ms = Long.parseLong(processes.awaitLine(rank, channel + " was done after ms: "));
                    System.out.println(memory + ", " + channel + ", rank " + rank + ": " + ms + " ms");
                    assertTrue(ms < COMPUTED_MS, processes::toString);
                }
                long permille = Long.parseLong(processes.awaitLine(rank, "permille of the session's own thread: "));
                assertTrue(permille < MAX_IDLE_PERMILLE, processes::toString);
            }
        }
    }

    /** Sends to the other and receives from it, over both channels at once. */
    static final class Program {
        private static final int BYTES = 64 << 20;
        private static final long IDLE_MS = 500;
        private static final int IDLE_PERIODS = 3;

        public static void main(String[] args) throws Exception {
            try (Session session = Session.open()) {
                if (session.rank() == 0) {
                    run(session, Program::send);
                } else {
                    run(session, Program::receive);
                }
                System.out.println("permille of the session's own thread: " + leastPermille());
            }
        }

        /** In the quietest of some periods: in one of them the other may begin to close its session. */
        private static long leastPermille() throws InterruptedException {
            long least = Long.MAX_VALUE;
            for (int i = 0; i < IDLE_PERIODS; i++) {
                long usedNs = ownThreadNs();
                Thread.sleep(IDLE_MS);
                least = Math.min(least, (ownThreadNs() - usedNs) / 1000 / IDLE_MS);
            }
            return least;
        }

        private interface Begin {
            Completion begin(Channel channel, MemorySegment block);
        }

        private static void run(Session session, Begin begin) {
            List<Channel> channels = List.of(session.channel(), session.channel("sockets"));
            List<MemorySegment> blocks = new ArrayList<>();
            for (int i = 0; i < channels.size(); i++) {
                MemorySegment block = session.allocate(BYTES);
                block.fill((byte) (session.rank() == 0 ? 0 : 1)); // touches it
                blocks.add(block);
                if (session.rank() == 0) {
                    Contents.fill(block, i);
                }
            }
            AtomicLong[] doneNs = {new AtomicLong(), new AtomicLong()};
            List<Completion> completions = new ArrayList<>();
            for (int i = 0; i < channels.size(); i++) {
                AtomicLong done = doneNs[i];
                Completion completion = begin.begin(channels.get(i), blocks.get(i));
                completion.onDone(() -> done.set(System.nanoTime()));
                completions.add(completion);
            }
            long beganNs = System.nanoTime();
            long sum = 0;
            while ((doneNs[0].get() == 0 || doneNs[1].get() == 0)
                    && System.nanoTime() - beganNs < COMPUTED_MS * 1_000_000) {
                for (int i = 0; i < 100_000; i++) {
                    sum = sum * 31 + i;
                }
            }
            for (int i = 0; i < channels.size(); i++) {
                long ms = doneNs[i].get() == 0 ? Long.MAX_VALUE : (doneNs[i].get() - beganNs) / 1_000_000;
                System.out.println(channels.get(i).name() + " was done after ms: " + ms);
                completions.get(i).await(20, SECONDS);
                if (session.rank() == 1) {
                    Contents.check(blocks.get(i), i, channels.get(i).name());
                }
            }
            System.out.println("computed " + sum);
            Completion told = send(session.channel(), 1 - session.rank(), MemorySegment.ofArray(new byte[0]));
            receive(session.channel(), MemorySegment.ofArray(new byte[0])).await(20, SECONDS);
            told.await(20, SECONDS);
        }

        private static Completion send(Channel channel, MemorySegment block) {
            return send(channel, 1, block);
        }

        private static Completion send(Channel channel, int peer, MemorySegment block) {
            return channel.beginPacking(peer, 20, SECONDS)
                    .packInt(1)
                    .pack(block)
                    .endPackingAsync();
        }

        private static Completion receive(Channel channel, MemorySegment block) {
            IncomingMessage in = channel.beginUnpacking(20, SECONDS);
            in.unpackInt();
            return in.unpack(block).endUnpackingAsync();
        }

        /** What the session's own thread has used of the processor, in nanoseconds. */
        private static long ownThreadNs() {
            var threads = ManagementFactory.getThreadMXBean();
            for (long id : threads.getAllThreadIds()) {
                var info = threads.getThreadInfo(id);
                if (info != null && info.getThreadName().startsWith("madeleine-progress-")) {
                    return threads.getThreadCpuTime(id);
                }
            }
            throw new AssertionError("the session has no thread of its own");
        }
    }
}
