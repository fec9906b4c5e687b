package io.madeleine.integration;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.madeleine.api.Channel;
import io.madeleine.api.IncomingMessage;
import io.madeleine.api.OutgoingMessage;
import io.madeleine.api.Session;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Hundreds of virtual threads over one channel, on a single carrier: if one pinned it while it waits, nothing would
 * move.
 */
class VirtualThreadsIT {
    @ParameterizedTest
    @MethodSource("networksAndWaits")
    void shouldServeManyVirtualThreadsOnOneCarrier(String network, String wait) throws Exception {
        try (Processes processes = Ranks.of(2, Program.class)
                .over(network)
                .with("wait.mode=" + wait)
                .java("-Djdk.virtualThreadScheduler.parallelism=1", "-Djdk.virtualThreadScheduler.maxPoolSize=1")
                .start()) {
            processes.assertSuccess();
            for (int rank = 0; rank < 2; rank++) {
                assertEquals(
                        List.of(Integer.toString(Program.CALLERS * Program.CALLS)),
                        processes.out(rank).linesAfter("calls answered: "));
            }
        }
    }

    private static Stream<Arguments> networksAndWaits() {
        return Stream.concat(
                Cases.always("tcp, block", "sci, adaptive"), Cases.thoroughly("tcp, adaptive", "sci, block"));
    }

    /** Each process calls the other and answers its calls: a request is answered by a virtual thread of its own. */
    static final class Program {
        static final int CALLERS = 200;
        static final int CALLS = 10;
        private static final int CALL = 0;
        private static final int ANSWER = 1;
        private static final int END = 2;

        private final Channel channel;
        private final int peer;
        private final Map<Long, CompletableFuture<Long>> waiting = new ConcurrentHashMap<>();
        private final AtomicLong numbers = new AtomicLong();
        private final ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor();

        Program(Session session) {
            this.channel = session.channel();
            this.peer = 1 - session.rank();
        }

        public static void main(String[] args) throws Exception {
            try (Session session = Session.open()) {
                new Program(session).run();
            }
        }

        private void run() throws Exception {
            Future<?> reader = executor.submit(this::readAll);
            List<? extends Future<Integer>> callers = IntStream.range(0, CALLERS)
                    .mapToObj(caller -> executor.submit(() -> callAll(caller)))
                    .toList();
            int answered = 0;
            for (Future<Integer> caller : callers) {
                answered += caller.get();
            }
            System.out.println("calls answered: " + answered);
            send(END, 0, 0);
            reader.get();
            executor.close();
        }

        private int callAll(int caller) throws Exception {
            int answered = 0;
            for (int call = 0; call < CALLS; call++) {
                long number = numbers.incrementAndGet();
                CompletableFuture<Long> answer = new CompletableFuture<>();
                waiting.put(number, answer);
                send(CALL, number, caller * 1000 + call);
                if (answer.get(30, SECONDS) != -(caller * 1000 + call)) {
                    throw new AssertionError("another answer than that to call " + call + " of " + caller);
                }
                answered++;
            }
            return answered;
        }

        private void send(int kind, long number, long value) {
            OutgoingMessage out = channel.beginPacking(peer, 30, SECONDS);
            out.packInt(kind).packLong(number).packLong(value);
            if (value % 7 == 3) {
                MemorySegment block = MemorySegment.ofArray(new byte[40_000]);
                Contents.fill(block, number);
                out.pack(block);
            }
            out.endPacking(30, SECONDS);
        }

        /** Until the other has all its answers, and this process, too. */
        private void readAll() {
            int answers = 0;
            boolean othersDone = false;
            while (!othersDone || answers < CALLERS * CALLS) {
                IncomingMessage in = channel.beginUnpacking(30, SECONDS).within(30, SECONDS);
                int kind = in.unpackInt();
                long number = in.unpackLong();
                long value = in.unpackLong();
                if (value % 7 == 3) {
                    MemorySegment block = MemorySegment.ofArray(new byte[40_000]);
                    in.unpack(block);
                    in.endUnpacking();
                    Contents.check(block, number, "call " + number);
                } else {
                    in.endUnpacking();
                }
                switch (kind) {
                    case CALL -> executor.submit(() -> send(ANSWER, number, -value));
                    case ANSWER -> {
                        answers++;
                        waiting.remove(number).complete(value);
                    }
                    default -> othersDone = true;
                }
            }
        }
    }
}
