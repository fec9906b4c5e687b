package io.madeleine.bench.measure;

import org.HdrHistogram.Histogram;

/**
 * Measures requests that are answered, one at a time or many under way. The other process only receives.
 *
 * <p>Threading: confined to caller.
 */
final class Calling {
    private static final long SAMPLE_NS = 10_000;
    private static final long RATE_SAMPLE_NS = 20_000_000;
    private static final long LONGEST_NS = 1_000_000_000_000L;
    private static final int VERIFIED = 16;
    private static final int AT_ONCE = 64;

    private final Wire wire;
    private final Histogram durationsNs;
    private final AllocationMeter allocations;
    private long number;

    Calling(Wire wire, Histogram durationsNs, AllocationMeter allocations) {
        this.wire = wire;
        this.durationsNs = durationsNs;
        this.allocations = allocations;
    }

    Round measure(Job job) {
        verify(job);
        Round round = job.order().pattern().isDuration() ? latency(job) : rate(job);
        verify(job);
        return round;
    }

    private void verify(Job job) {
        Pattern pattern = job.order().pattern() == Pattern.RSR_TYPED_RATE
                ? Pattern.RSR_TYPED
                : job.order().pattern();
        for (int i = 0; i < VERIFIED; i++) {
            Block request = job.sent().next();
            Block answer = job.received().next();
            Contents.fill(request.memory(), job.bytes(), ++number);
            wire.call(pattern, request, answer, job.bytes());
            Contents.check(answer.memory(), job.bytes(), number);
        }
    }

    private Round latency(Job job) {
        long calls = 0;
        long roundTripNs = 1;
        while (job.isCold(calls)) {
            long startNs = System.nanoTime();
            callBatch(job, VERIFIED);
            roundTripNs = Math.max(1, (System.nanoTime() - startNs) / VERIFIED);
            calls += VERIFIED;
        }
        int batch = (int) Math.max(1, (SAMPLE_NS + roundTripNs - 1) / roundTripNs);
        durationsNs.reset();
        allocations.reset();
        while (!job.isOver(durationsNs.getTotalCount())) {
            allocations.begin();
            int samples = (int) Math.max(1, RATE_SAMPLE_NS / (batch * roundTripNs));
            long beginNs = System.nanoTime();
            for (int i = 0; i < samples; i++) {
                callBatch(job, batch);
                long endNs = System.nanoTime();
                durationsNs.recordValue(Math.min(endNs - beginNs, LONGEST_NS));
                beginNs = endNs;
            }
            allocations.end(2L * batch * samples);
        }
        return Round.of(job.order().pattern(), job.bytes(), durationsNs, 2L * batch, usage());
    }

    private void callBatch(Job job, int count) {
        Pattern pattern = job.order().pattern();
        for (int i = 0; i < count; i++) {
            wire.call(pattern, job.sent().next(), job.received().next(), job.bytes());
        }
    }

    private Round rate(Job job) {
        long count = AT_ONCE;
        long calls = 0;
        long sampleNs = Math.max(1, Math.min(RATE_SAMPLE_NS, job.leftNs() / 5));
        while (job.isCold(calls)) {
            long startNs = System.nanoTime();
            wire.calls(job.sent().next(), job.bytes(), count, AT_ONCE);
            long elapsedNs = Math.max(1, System.nanoTime() - startNs);
            calls += count;
            count = elapsedNs < sampleNs / 2 ? count * 2 : Math.max(AT_ONCE, count * sampleNs / elapsedNs);
        }
        durationsNs.reset();
        allocations.reset();
        while (!job.isOver(durationsNs.getTotalCount())) {
            allocations.begin();
            long startNs = System.nanoTime();
            wire.calls(job.sent().next(), job.bytes(), count, AT_ONCE);
            durationsNs.recordValue(Math.min(System.nanoTime() - startNs, LONGEST_NS));
            allocations.end(count);
        }
        return Round.of(job.order().pattern(), job.bytes(), durationsNs, count, usage());
    }

    /** Only what the calling thread has allocated: the other end is not asked. */
    private Usage usage() {
        return new Usage(allocations.medianBytes(), Double.NaN, Double.NaN, Double.NaN);
    }
}
