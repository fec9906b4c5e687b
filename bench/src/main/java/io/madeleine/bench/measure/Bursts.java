package io.madeleine.bench.measure;

import io.madeleine.bench.measure.Requests.Request;
import org.HdrHistogram.Histogram;

/**
 * What rank 0 does for the patterns in which a process sends several messages without an answer to each: a few of them
 * while the other looks away, so that sending and receiving can be told apart (as Nemesis, section 4.1.2, does with a
 * nap before it receives), or many from everybody at once.
 *
 * <p>Threading: confined to caller.
 */
final class Bursts {
    /** How long a process does not look at the wire, which is enough for the other to send a burst. */
    private static final long AWAY_NS = 40_000;

    private static final long BURST_MESSAGES = 32;
    private static final long BURST_BYTES = 16 << 10;

    /** How much room a message takes at most beside its contents where a burst is kept. */
    private static final long OVERHEAD_BYTES = 64;

    private final Wire wire;
    private final Requests requests;
    private final Histogram durationsNs;
    private final AllocationMeter allocations;

    Bursts(Wire wire, Requests requests, Histogram durationsNs, AllocationMeter allocations) {
        this.wire = wire;
        this.requests = requests;
        this.durationsNs = durationsNs;
        this.allocations = allocations;
    }

    /** Touches nothing that the other process touches, for {@link #AWAY_NS}. */
    static void lookAway() {
        long beginNs = System.nanoTime();
        while (System.nanoTime() - beginNs < AWAY_NS) {
            Thread.onSpinWait();
        }
    }

    /** How many messages of this size wait without being received, in any wire that has the pattern. */
    static long messages(long bytes) {
        return Math.clamp(BURST_BYTES / (bytes + OVERHEAD_BYTES), 1, BURST_MESSAGES);
    }

    /** Sends a burst while the responder looks away. */
    void send(Job job, long count) {
        long bytes = job.bytes();
        requests.ask(Request.PAUSE, bytes, count, 0);
        requests.awaitAcknowledgement();
        allocations.begin();
        long beginNs = System.nanoTime();
        for (long i = 0; i < count; i++) {
            wire.send(job.sent().next(), bytes);
        }
        durationsNs.recordValue(System.nanoTime() - beginNs);
        allocations.end(count);
    }

    /** Receives a burst that arrived while this process looked away. */
    void receive(Job job, long count) {
        long bytes = job.bytes();
        requests.ask(Request.BURST, bytes, count, 0);
        lookAway();
        allocations.begin();
        long beginNs = System.nanoTime();
        for (long i = 0; i < count; i++) {
            wire.receive(job.received().next(), bytes);
        }
        durationsNs.recordValue(System.nanoTime() - beginNs);
        allocations.end(count);
    }

    /** Receives from all at once, {@code count} messages from each. */
    long receiveFromAll(Job job, long count) {
        long bytes = job.bytes();
        long messages = count * wire.peers();
        allocations.begin();
        long beginNs = System.nanoTime();
        for (int peer = 0; peer < wire.peers(); peer++) {
            wire.towards(peer);
            requests.ask(Request.BURST, bytes, count, 0);
        }
        for (long i = 0; i < messages; i++) {
            wire.receive(job.received().next(), bytes);
        }
        long elapsedNs = System.nanoTime() - beginNs;
        durationsNs.recordValue(Math.min(elapsedNs, durationsNs.getHighestTrackableValue()));
        allocations.end(messages);
        return elapsedNs;
    }

    /** Gives each peer the blocks to send, by having it send them back. */
    void prime(Job job) {
        int count = job.sent().count();
        for (int peer = 0; peer < wire.peers(); peer++) {
            wire.towards(peer);
            requests.ask(Request.ECHO, job.bytes(), count, 0);
            for (int i = 0; i < count; i++) {
                wire.send(job.sent().next(), job.bytes());
                wire.receive(job.received().next(), job.bytes());
            }
        }
    }
}
