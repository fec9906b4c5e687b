package io.madeleine.bench;

import io.madeleine.pmm.ArrivalQueue;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.annotations.Benchmark;

/** What it costs to queue up at a channel and to be taken: paid by each message. */
public class QueueBenchmark extends AbstractBenchmark {
    private static final int CAPACITY = 64;

    private final ArrivalQueue<Object> queue = new ArrivalQueue<>(CAPACITY);
    private final Object arrival = new Object();

    /** In and out, by one thread. */
    @Benchmark
    public @Nullable Object addAndPoll() {
        queue.add(arrival);
        return queue.poll();
    }

    /** A look in vain. */
    @Benchmark
    public @Nullable Object pollInVain() {
        return queue.poll();
    }
}
