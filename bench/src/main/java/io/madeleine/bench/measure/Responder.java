package io.madeleine.bench.measure;

import io.madeleine.bench.measure.Requests.Request;

/**
 * Rank 1 of a measurement: does what the driver asks.
 *
 * <p>Threading: confined to caller.
 */
final class Responder {
    private final Wire wire;
    private final Requests requests;
    private final AllocationMeter allocations = new AllocationMeter();
    private final UsageMeter usage = new UsageMeter();
    private final Computing computing = new Computing();

    Responder(Wire wire) {
        this.wire = wire;
        this.requests = new Requests(wire);
    }

    /**
     * Until the driver says that the measurement is over.
     *
     * @param own the blocks of messages that are not echoes
     * @param blocks the blocks to receive into, and to echo
     */
    void serve(BlockRing own, BlockRing blocks, boolean withUsage) {
        for (Requests.Asked asked = requests.next(); asked.request() != Request.END; asked = requests.next()) {
            switch (asked.request()) {
                case VERIFY -> verify(blocks, asked.bytes(), asked.count(), asked.number());
                case ECHO -> echo(blocks, asked.bytes(), asked.count());
                case STREAM -> stream(blocks, asked.bytes(), asked.count());
                case CHECK -> check(blocks, asked.bytes(), asked.number(), withUsage);
                case BURST -> burst(blocks, asked.bytes(), asked.count());
                case PAUSE -> pause(blocks, asked.bytes(), asked.count());
                case COMPUTE -> compute(blocks, asked.bytes(), asked.number());
                case FILL -> own.fill(asked.number());
                case ANSWER -> answer(own, blocks, asked.bytes(), asked.count());
                case END -> throw new IllegalStateException("the loop ends with END");
            }
        }
    }

    private void verify(BlockRing blocks, long bytes, long count, long number) {
        for (long i = 0; i < count; i++) {
            Block block = blocks.next();
            wire.receive(block, bytes);
            Contents.check(block.memory(), bytes, number + i);
            wire.send(block, bytes);
        }
    }

    private void echo(BlockRing blocks, long bytes, long count) {
        allocations.begin();
        for (long i = 0; i < count; i++) {
            Block block = blocks.next();
            wire.receive(block, bytes);
            wire.send(block, bytes);
        }
        allocations.end(2 * count);
    }

    private void answer(BlockRing own, BlockRing blocks, long bytes, long count) {
        allocations.begin();
        for (long i = 0; i < count; i++) {
            wire.receive(blocks.next(), bytes);
            wire.send(own.next(), bytes);
        }
        allocations.end(2 * count);
    }

    private void stream(BlockRing blocks, long bytes, long count) {
        allocations.begin();
        for (long i = 0; i < count; i++) {
            wire.receive(blocks.next(), bytes);
        }
        requests.acknowledge();
        allocations.end(count);
    }

    private void burst(BlockRing blocks, long bytes, long count) {
        allocations.begin();
        for (long i = 0; i < count; i++) {
            wire.stream(blocks.next(), bytes);
        }
        wire.flush();
        allocations.end(count);
    }

    private void pause(BlockRing blocks, long bytes, long count) {
        requests.acknowledge();
        Bursts.lookAway();
        allocations.begin();
        for (long i = 0; i < count; i++) {
            wire.receive(blocks.next(), bytes);
        }
        allocations.end(count);
    }

    private void compute(BlockRing blocks, long bytes, long instantNs) {
        Block block = blocks.next();
        computing.until(instantNs);
        wire.receive(block, bytes);
        wire.send(block, bytes);
    }

    private void check(BlockRing blocks, long bytes, long number, boolean withUsage) {
        if (number >= 0) {
            Contents.check(blocks.last().memory(), bytes, number);
        }
        requests.answer(
                withUsage
                        ? new Requests.Answer(allocations.medianBytes(), usage.cpuPercent(), usage.contextSwitches())
                        : new Requests.Answer(allocations.medianBytes(), Double.NaN, 0));
        allocations.reset();
        if (withUsage) {
            usage.reset();
        }
    }
}
