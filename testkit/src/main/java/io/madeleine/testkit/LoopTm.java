package io.madeleine.testkit;

import io.madeleine.pmm.spi.AggregationMode;
import io.madeleine.pmm.spi.BufferMode;
import io.madeleine.pmm.spi.LinkMode;
import io.madeleine.pmm.spi.TransmissionCapabilities;

/**
 * A transmission module of the in-memory family "loop": bounded queues in the heap, strict about the SPI's rules, for
 * tests. Its parameters make cases frequent that are rare in real networks.
 *
 * @param capabilities the capabilities that it reports
 * @param slotCount static modules: the number of buffers in each direction
 * @param ringBytes dynamic modules: the most bytes under way, headers included; at least 16
 * @param acceptBytes dynamic modules: the most bytes that one call of send takes
 * @param deliverBytes the most bytes that one call of receive or skip moves
 * @param delayRounds sent packets become visible at the receiver after up to this many polls; 0 for at once
 * @param postingSeed dynamic modules: if not 0, the module posts memory as a NIC does, and the seed decides when what
 *     happens
 */
public record LoopTm(
        TransmissionCapabilities capabilities,
        int slotCount,
        int ringBytes,
        long acceptBytes,
        long deliverBytes,
        int delayRounds,
        long postingSeed) {
    private static final int DEFAULT_SLOTS = 8;
    private static final int DEFAULT_RING_BYTES = 256 * 1024;

    /** A module with static buffers. */
    public static LoopTm withStaticBuffers(
            String name, AggregationMode aggregation, long maxBlockBytes, int bufferBytes) {
        return new LoopTm(
                new TransmissionCapabilities(
                        "loop/" + name,
                        BufferMode.STATIC,
                        LinkMode.BUFFER_GROUP,
                        aggregation,
                        maxBlockBytes,
                        bufferBytes,
                        "buffers of " + bufferBytes + " bytes in memory of this process"),
                DEFAULT_SLOTS,
                0,
                Long.MAX_VALUE,
                Long.MAX_VALUE,
                0,
                0);
    }

    /** A module that sends the user's blocks. */
    public static LoopTm withDynamicBuffers(
            String name, LinkMode linkMode, AggregationMode aggregation, long maxBlockBytes) {
        return new LoopTm(
                new TransmissionCapabilities(
                        "loop/" + name,
                        BufferMode.DYNAMIC,
                        linkMode,
                        aggregation,
                        maxBlockBytes,
                        0,
                        "a stream of bytes in memory of this process"),
                0,
                DEFAULT_RING_BYTES,
                Long.MAX_VALUE,
                Long.MAX_VALUE,
                0,
                0);
    }

    /** Returns a copy with {@code count} static buffers in each direction. */
    public LoopTm slots(int count) {
        return new LoopTm(capabilities, count, ringBytes, acceptBytes, deliverBytes, delayRounds, postingSeed);
    }

    /** Returns a copy with at most {@code bytes} bytes under way. */
    public LoopTm ring(int bytes) {
        return new LoopTm(capabilities, slotCount, bytes, acceptBytes, deliverBytes, delayRounds, postingSeed);
    }

    /** Returns a copy whose calls of send take at most {@code bytes} bytes. */
    public LoopTm accepting(long bytes) {
        return new LoopTm(capabilities, slotCount, ringBytes, bytes, deliverBytes, delayRounds, postingSeed);
    }

    /** Returns a copy whose calls of receive or skip move at most {@code bytes} bytes. */
    public LoopTm delivering(long bytes) {
        return new LoopTm(capabilities, slotCount, ringBytes, acceptBytes, bytes, delayRounds, postingSeed);
    }

    /** Returns a copy whose packets become visible only every {@code rounds} polls. */
    public LoopTm delayed(int rounds) {
        return new LoopTm(capabilities, slotCount, ringBytes, acceptBytes, deliverBytes, rounds, postingSeed);
    }

    /**
     * Returns a copy that posts memory as a NIC does: sends complete late, and received data is placed in expected
     * blocks. It posts heap memory.
     *
     * @param seed not 0
     */
    public LoopTm posting(long seed) {
        return new LoopTm(capabilities, slotCount, ringBytes, acceptBytes, deliverBytes, delayRounds, seed);
    }

    boolean isStatic() {
        return capabilities.bufferMode() == BufferMode.STATIC;
    }

    /** Makes a pipe from this module to the same module at the other end. */
    LoopPipe newPipe(LoopTm receiver, LoopFabric fabric) {
        if (isStatic()) {
            return new LoopSlots(this, receiver);
        }
        return postingSeed == 0 ? new LoopStream(this, receiver) : new LoopPosts(this, receiver, fabric);
    }
}
