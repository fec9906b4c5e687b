package io.madeleine.bench.measure;

import io.madeleine.bench.measure.Requests.Request;
import org.HdrHistogram.Histogram;

/**
 * Rank 0 of a measurement: asks and takes the time. A measurement is: some messages with their contents checked one by
 * one, warming up, which also finds out how long a sample has to be, the samples, and a look at the contents of the
 * last message.
 *
 * <p>Threading: confined to caller.
 */
final class Driver {
    private static final long MICROSECOND_NS = 1_000;
    private static final long MILLISECOND_NS = 1_000_000;

    /** A sample of latency is a batch of round trips that takes at least this long. */
    private static final long LATENCY_SAMPLE_NS = 10 * MICROSECOND_NS;

    /** A sample of bandwidth or rate is a stream of messages that takes at least this long, if the measurement does. */
    private static final long STREAM_SAMPLE_NS = 20 * MILLISECOND_NS;

    /** The same for an incast, whose senders are woken one by one, so that it takes longer to become steady. */
    private static final long INCAST_SAMPLE_NS = 200 * MILLISECOND_NS;

    /** A sample of fewer messages from each sender, or fewer bytes, would tell how senders wake up. */
    private static final long LEAST_FROM_EACH = 4096;

    private static final long LEAST_BYTES_FROM_EACH = 4 << 20;

    /** How long the responder echoes at one request. */
    private static final long ECHO_NS = 50 * MILLISECOND_NS;

    private static final long LONGEST_NS = 1_000_000 * MILLISECOND_NS;
    private static final long VERIFIED_BYTES = 4 << 20;
    private static final long VERIFIED_MESSAGES = 64;
    private static final long UNCHECKED = -1;
    private static final int WARM_ECHOES = 1_000;

    /** So many exchanges after computing follow, which the JVM would else compile after a minute. */
    private static final int WARM_EXCHANGES = 32;

    /** Long enough for the session's own thread to fall asleep. */
    private static final long WARM_COMPUTING_NS = 300_000;

    private final Wire wire;
    private final Requests requests;
    private final Histogram durationsNs = new Histogram(LONGEST_NS, 4);
    private final AllocationMeter allocations = new AllocationMeter();
    private final UsageMeter usage = new UsageMeter();
    private final Computing computing = new Computing();
    private final Bursts bursts;
    private final Calling calling;
    private long number;

    Driver(Wire wire) {
        this.wire = wire;
        this.requests = new Requests(wire);
        this.bursts = new Bursts(wire, requests, durationsNs, allocations);
        this.calling = new Calling(wire, durationsNs, allocations);
    }

    /** Carries out an order. */
    Round measure(Order order, BlockRing sent, BlockRing received) {
        Job job = Job.begin(order, sent, received);
        if (order.pattern().isCall()) {
            Round round = calling.measure(job);
            requests.ask(Request.END, 0, 0, 0);
            return round;
        }
        verifyAll(job);
        sent.fill(++number);
        received.clear();
        long last = number;
        if (order.pattern().isOfOwnBlocks()) {
            last = number + 1;
            requests.ask(Request.FILL, order.bytes(), 0, last);
        }
        Round round = measure(job);
        if (order.buffers() == Buffers.FRESH) {
            verifyAll(job); // a new array each time holds nothing that could be checked
        } else if (isReceived(order.pattern())) {
            Contents.check(received.last().memory(), order.bytes(), last);
        }
        for (int peer = 0; peer < wire.peers(); peer++) {
            wire.towards(peer);
            requests.ask(Request.END, 0, 0, 0);
        }
        return round;
    }

    private Round measure(Job job) {
        Pattern pattern = job.order().pattern();
        if (pattern.computeNs() > 0) {
            return compute(job);
        } else if (pattern.isRoundTrip()) {
            return latency(job);
        } else if (pattern.isStream()) {
            return stream(job);
        } else if (pattern == Pattern.SEND) {
            return send(job);
        } else if (pattern == Pattern.RECEIVE) {
            return receive(job);
        } else if (pattern == Pattern.INCAST) {
            return incast(job);
        }
        throw new IllegalArgumentException(pattern + " is measured elsewhere");
    }

    /** Whether it is rank 0 that has received the last message. */
    private static boolean isReceived(Pattern pattern) {
        return pattern.isRoundTrip() || pattern == Pattern.RECEIVE || pattern == Pattern.INCAST;
    }

    private void verifyAll(Job job) {
        for (int peer = 0; peer < wire.peers(); peer++) {
            wire.towards(peer);
            verify(job);
        }
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
        int samples = (int) Math.max(1, Math.min(ECHO_NS, job.leftNs() / 10) / (batch * roundTripNs));
        reset(job);
        long counted = 0;
        while (!job.isOver(durationsNs.getTotalCount())) {
            echo(job, samples, batch);
            counted += 2L * samples * batch;
        }
        return Round.of(job.order().pattern(), job.bytes(), durationsNs, 2L * batch, usage(job, counted));
    }

    /** One untimed round trip, then samples of {@code batch} round trips each. */
    private long echo(Job job, int samples, int batch) {
        long bytes = job.bytes();
        BlockRing sent = job.sent();
        BlockRing received = job.received();
        Request request = job.order().pattern().isOfOwnBlocks() ? Request.ANSWER : Request.ECHO;
        requests.ask(request, bytes, 1 + (long) samples * batch, 0);
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
        long sampleNs = Math.max(1, Math.min(STREAM_SAMPLE_NS, job.leftNs() / 10));
        long count = 1;
        long messages = 0;
        while (job.isCold(messages)) {
            long elapsedNs = sendAll(job, count);
            messages += count;
            count = elapsedNs < sampleNs / 2 ? count * 2 : Math.max(1, count * sampleNs / elapsedNs);
        }
        reset(job);
        long counted = 0;
        while (!job.isOver(durationsNs.getTotalCount())) {
            sendAll(job, count);
            counted += count;
        }
        return Round.of(job.order().pattern(), job.bytes(), durationsNs, count, usage(job, counted));
    }

    private Round send(Job job) {
        long count = Bursts.messages(job.bytes());
        for (long messages = 0; job.isCold(messages); messages += count) {
            bursts.send(job, count);
        }
        reset(job);
        while (!job.isOver(durationsNs.getTotalCount())) {
            bursts.send(job, count);
        }
        return round(job, count, 1);
    }

    private Round receive(Job job) {
        bursts.prime(job);
        long count = Bursts.messages(job.bytes());
        for (long messages = 0; job.isCold(messages); messages += count) {
            bursts.receive(job, count);
        }
        reset(job);
        while (!job.isOver(durationsNs.getTotalCount())) {
            bursts.receive(job, count);
        }
        return round(job, count, 1);
    }

    /** Exchanges one message after both have computed; the time counts from the instant at which they stop. */
    private Round compute(Job job) {
        for (long messages = 0; job.isCold(messages); messages += WARM_ECHOES) {
            echo(job, WARM_ECHOES, 1);
            for (int i = 0; i < WARM_EXCHANGES; i++) { // have paths of their own
                exchangeAfterComputing(
                        job, Math.min(WARM_COMPUTING_NS, job.order().pattern().computeNs()));
            }
        }
        reset(job);
        long counted = 0;
        while (!job.isOver(durationsNs.getTotalCount())) {
            long exchangeNs = exchangeAfterComputing(job, job.order().pattern().computeNs());
            durationsNs.recordValue(Math.clamp(exchangeNs, 1, LONGEST_NS));
            counted += 2;
        }
        return Round.of(job.order().pattern(), job.bytes(), durationsNs, 2, usage(job, counted));
    }

    private long exchangeAfterComputing(Job job, long computeNs) {
        long bytes = job.bytes();
        Block sent = job.sent().next();
        Block received = job.received().next();
        long instantNs = System.nanoTime() + computeNs;
        requests.ask(Request.COMPUTE, bytes, 1, instantNs);
        computing.until(instantNs);
        wire.send(sent, bytes);
        wire.receive(received, bytes);
        return System.nanoTime() - instantNs;
    }

    private Round incast(Job job) {
        bursts.prime(job);
        long sampleNs = Math.max(1, Math.min(INCAST_SAMPLE_NS, job.leftNs() / 4));
        long least = Math.clamp(LEAST_BYTES_FROM_EACH / job.bytes(), 1, LEAST_FROM_EACH);
        long count = least;
        long messages = 0;
        while (job.isCold(messages)) {
            long elapsedNs = bursts.receiveFromAll(job, count);
            messages += count;
            count = elapsedNs < sampleNs / 2 ? count * 2 : Math.max(least, count * sampleNs / elapsedNs);
        }
        reset(job);
        while (!job.isOver(durationsNs.getTotalCount())) {
            bursts.receiveFromAll(job, count);
        }
        return round(job, count, wire.peers());
    }

    /** The rate of samples, each of this many messages from each of this many senders. */
    private Round round(Job job, long count, int senders) {
        long messages = count * senders;
        return Round.of(
                job.order().pattern(),
                job.bytes(),
                durationsNs,
                messages,
                usage(job, messages * durationsNs.getTotalCount()));
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

    /** Has the responders look at the last message and say what messages have cost there. */
    private Requests.Answer check(Job job) {
        double allocatedBytes = 0;
        double cpuPercent = 0;
        long switches = 0;
        for (int peer = 0; peer < wire.peers(); peer++) {
            wire.towards(peer);
            requests.ask(Request.CHECK, job.bytes(), 0, job.order().buffers() == Buffers.FRESH ? UNCHECKED : number);
            Requests.Answer answer = requests.awaitAnswer();
            allocatedBytes = Math.max(allocatedBytes, answer.allocatedBytes());
            cpuPercent += answer.cpuPercent();
            switches += answer.contextSwitches();
        }
        return new Requests.Answer(allocatedBytes, cpuPercent, switches);
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
