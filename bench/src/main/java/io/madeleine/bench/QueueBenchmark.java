package io.madeleine.bench;

import io.madeleine.pmm.ArrivalQueue;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.annotations.Benchmark;

/** What it costs to queue a connection at a channel and to take it out, as for each message that arrives. */
public class QueueBenchmark extends AbstractBenchmark {
    private static final int CAPACITY = 64;

    private final ArrivalQueue<Object> queue = new ArrivalQueue<>(CAPACITY);
    private final Object arrival = new Object();

    /** Queues a connection and takes it out, by one thread. */
    @Benchmark
    public @Nullable Object addAndPoll() {
        queue.add(arrival);
        return queue.poll();
    }

    /** A look at the empty queue. */
    @Benchmark
    public @Nullable Object pollInVain() {
        return queue.poll();
    }
}
