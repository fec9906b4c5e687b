package io.madeleine.bench.measure;

import io.madeleine.bench.measure.Requests.Request;
import org.HdrHistogram.Histogram;

/**
 * Rank 0 of a measurement: asks and takes the time. A measurement is: some messages with their contents checked one by
 * one, warming up, which also finds out how long a sample has to be, the samples, and a look at the contents of the last
 * message.
 *
 * <p>Threading: confined to caller.
 */
final class Driver {
    private static final long MICROSECOND_NS = 1_000;
    private static final long MILLISECOND_NS = 1_000_000;

    /** A sample of latency is a batch of round trips that takes at least so long. */
    private static final long LATENCY_SAMPLE_NS = 10 * MICROSECOND_NS;

    /** A sample of bandwidth or rate is a stream of messages that takes at least so long, if the measurement does. */
    private static final long STREAM_SAMPLE_NS = 20 * MILLISECOND_NS;

    /** How long the responder echoes at one request. */
    private static final long ECHO_NS = 50 * MILLISECOND_NS;

    private static final long LONGEST_NS = 1_000_000 * MILLISECOND_NS;
    private static final int LEAST_SAMPLES = 5;
    private static final long WARM_MESSAGES = 50_000;
    private static final long VERIFIED_BYTES = 4 << 20;
    private static final long VERIFIED_MESSAGES = 64;
    private static final long UNCHECKED = -1;

    private final Wire wire;
    private final Requests requests;
    private final Histogram durationsNs = new Histogram(LONGEST_NS, 4);
    private final AllocationMeter allocations = new AllocationMeter();
    private final UsageMeter usage = new UsageMeter();
    private long number;

    Driver(Wire wire) {
        this.wire = wire;
        this.requests = new Requests(wire);
    }

    /** Memory of both directions, and what is to be found out with it. */
    private record Job(Order order, BlockRing sent, BlockRing received, long startNs) {
        long bytes() {
            return order.bytes();
        }

        /** Until so much time is over; up to twice as long if so far the compiler cannot have seen enough. */
        boolean isCold(long messages) {
            long elapsedNs = System.nanoTime() - startNs;
            long warmNs = order.warmNs();
            return messages == 0
                    || elapsedNs < warmNs
                    || (elapsedNs < Math.min(2 * warmNs, order.durationNs() / 2) && messages < WARM_MESSAGES);
        }

        boolean isOver() {
            return System.nanoTime() - startNs >= order.durationNs();
        }
    }

    /** Carries out an order. */
    Round measure(Order order, BlockRing sent, BlockRing received) {
        Job job = new Job(order, sent, received, System.nanoTime());
        verify(job);
        sent.fill(++number);
        received.clear();
        Round round = order.pattern() == Pattern.LATENCY ? latency(job) : stream(job);
        if (order.buffers() == Buffers.FRESH) {
            verify(job); // what is new each time holds nothing that could be looked at
        } else if (order.pattern() == Pattern.LATENCY) {
            Contents.check(received.last().memory(), order.bytes(), number);
        }
        requests.ask(Request.END, 0, 0, 0);
        return round;
    }

    private void verify(Job job) {
        long bytes = job.bytes();
        long count = Math.clamp(VERIFIED_BYTES / bytes, 2, VERIFIED_MESSAGES);
        requests.ask(Request.VERIFY, bytes, count, number + 1);
        for (long i = 0; i < count; i++) {
            Block block = job.sent().next();
            Contents.fill(block.memory(), bytes, ++number);
            wire.send(block, bytes);
            Block answer = job.received().next();
            wire.receive(answer, bytes);
            Contents.check(answer.memory(), bytes, number);
        }
    }

    private Round latency(Job job) {
        long roundTripNs = 0;
        long messages = 0;
        for (int samples = 1; job.isCold(messages); ) {
            long elapsedNs = echo(job, samples, 1);
            roundTripNs = Math.max(1, elapsedNs / samples);
            messages += samples;
            samples = elapsedNs < ECHO_NS / 2 ? samples * 2 : samples;
        }
        int batch = (int) Math.max(1, (LATENCY_SAMPLE_NS + roundTripNs - 1) / roundTripNs);
        long leftNs = Math.max(1, job.order().durationNs() - job.order().warmNs());
        int samples = (int) Math.max(1, Math.min(ECHO_NS, leftNs / 10) / (batch * roundTripNs));
        reset(job);
        long counted = 0;
        while (!job.isOver() || durationsNs.getTotalCount() < LEAST_SAMPLES) {
            echo(job, samples, batch);
            counted += 2L * samples * batch;
        }
        return Round.of(Pattern.LATENCY, job.bytes(), durationsNs, 2L * batch, usage(job, counted));
    }

    /** One untimed round trip, then samples of {@code batch} round trips each. */
    private long echo(Job job, int samples, int batch) {
        long bytes = job.bytes();
        BlockRing sent = job.sent();
        BlockRing received = job.received();
        requests.ask(Request.ECHO, bytes, 1 + (long) samples * batch, 0);
        wire.send(sent.next(), bytes);
        wire.receive(received.next(), bytes);
        allocations.begin();
        long firstNs = System.nanoTime();
        long beginNs = firstNs;
        for (int sample = 0; sample < samples; sample++) {
            for (int i = 0; i < batch; i++) {
                wire.send(sent.next(), bytes);
                wire.receive(received.next(), bytes);
            }
            long endNs = System.nanoTime();
            durationsNs.recordValue(Math.min(endNs - beginNs, LONGEST_NS));
            beginNs = endNs;
        }
        allocations.end(2L * samples * batch);
        return beginNs - firstNs;
    }

    private Round stream(Job job) {
        long leftNs = Math.max(1, job.order().durationNs() - job.order().warmNs());
        long sampleNs = Math.max(1, Math.min(STREAM_SAMPLE_NS, leftNs / 10));
        long count = 1;
        long messages = 0;
        while (job.isCold(messages)) {
            long elapsedNs = sendAll(job, count);
            messages += count;
            count = elapsedNs < sampleNs / 2 ? count * 2 : Math.max(1, count * sampleNs / elapsedNs);
        }
        reset(job);
        long counted = 0;
        while (!job.isOver() || durationsNs.getTotalCount() < LEAST_SAMPLES) {
            sendAll(job, count);
            counted += count;
        }
        return Round.of(job.order().pattern(), job.bytes(), durationsNs, count, usage(job, counted));
    }

    /** Streams messages until the last one is acknowledged. */
    private long sendAll(Job job, long count) {
        long bytes = job.bytes();
        BlockRing sent = job.sent();
        requests.ask(Request.STREAM, bytes, count, 0);
        allocations.begin();
        long beginNs = System.nanoTime();
        for (long i = 0; i < count; i++) {
            wire.stream(sent.next(), bytes);
        }
        wire.flush();
        requests.awaitAcknowledgement();
        long elapsedNs = System.nanoTime() - beginNs;
        durationsNs.recordValue(Math.min(elapsedNs, LONGEST_NS));
        allocations.end(count);
        return elapsedNs;
    }

    /** Forgets the warm-up, here and at the responder. */
    private void reset(Job job) {
        check(job);
        durationsNs.reset();
        allocations.reset();
        if (job.order().usage()) {
            usage.reset();
        }
    }

    /** Has the responder look at the last message and say what messages have cost there. */
    private Requests.Answer check(Job job) {
        requests.ask(Request.CHECK, job.bytes(), 0, job.order().buffers() == Buffers.FRESH ? UNCHECKED : number);
        return requests.awaitAnswer();
    }

    private Usage usage(Job job, long messages) {
        double cpuPercent = usage.cpuPercent();
        Requests.Answer there = check(job);
        double allocatedBytes = there.allocatedBytes() + allocations.medianBytes();
        if (!job.order().usage()) {
            return new Usage(allocatedBytes, Double.NaN, Double.NaN, Double.NaN);
        }
        double switches = usage.contextSwitches() + there.contextSwitches();
        return new Usage(allocatedBytes, cpuPercent, there.cpuPercent(), switches / messages);
    }
}
