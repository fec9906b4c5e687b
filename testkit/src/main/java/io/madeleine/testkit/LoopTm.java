package io.madeleine.testkit;

import io.madeleine.pmm.spi.AggregationMode;
import io.madeleine.pmm.spi.BufferMode;
import io.madeleine.pmm.spi.LinkMode;
import io.madeleine.pmm.spi.TransmissionCapabilities;

/**
 * A transmission module of the in-memory family "loop": bounded queues in the heap, strict about the SPI's rules. Tests run
 * over it. The knobs make the cases frequent that real networks show rarely.
 *
 * @param capabilities what it claims to be
 * @param slotCount static modules: how many buffers there are in each direction
 * @param ringBytes dynamic modules: how many bytes are under way at most, headers included; at least 16
 * @param acceptBytes dynamic modules: how many bytes one call to send takes at most
 * @param deliverBytes how many bytes one call to receive or skip moves at most
 * @param delayRounds what was sent shows at the receiver after up to so many polls; 0 for at once
 * @param postingSeed dynamic modules: not 0 if it posts memory as a NIC does, and decides by this seed when what happens
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

    /** The same with so many static buffers in each direction. */
    public LoopTm slots(int count) {
        return new LoopTm(capabilities, count, ringBytes, acceptBytes, deliverBytes, delayRounds, postingSeed);
    }

    /** The same with so many bytes under way at most. */
    public LoopTm ring(int bytes) {
        return new LoopTm(capabilities, slotCount, bytes, acceptBytes, deliverBytes, delayRounds, postingSeed);
    }

    /** The same, taking at most so many bytes in one call to send. */
    public LoopTm accepting(long bytes) {
        return new LoopTm(capabilities, slotCount, ringBytes, bytes, deliverBytes, delayRounds, postingSeed);
    }

    /** The same, moving at most so many bytes in one call to receive or skip. */
    public LoopTm delivering(long bytes) {
        return new LoopTm(capabilities, slotCount, ringBytes, acceptBytes, bytes, delayRounds, postingSeed);
    }

    /** The same, with packets that show only every so many polls. */
    public LoopTm delayed(int rounds) {
        return new LoopTm(capabilities, slotCount, ringBytes, acceptBytes, deliverBytes, rounds, postingSeed);
    }

    /**
     * The same, posting memory as a NIC does: sends that complete late, receives that are placed where they are expected. It
     * posts blocks in the Java heap.
     *
     * @param seed not 0
     */
    public LoopTm posting(long seed) {
        return new LoopTm(capabilities, slotCount, ringBytes, acceptBytes, deliverBytes, delayRounds, seed);
    }

    boolean isStatic() {
        return capabilities.bufferMode() == BufferMode.STATIC;
    }

    /** A pipe from this module to its like at the other end. */
    LoopPipe newPipe(LoopTm receiver, LoopFabric fabric) {
        if (isStatic()) {
            return new LoopSlots(this, receiver);
        }
        return postingSeed == 0 ? new LoopStream(this, receiver) : new LoopPosts(this, receiver, fabric);
    }
}
