package io.madeleine.bench.measure;

import java.lang.management.ManagementFactory;
import java.util.Arrays;

/**
 * What this thread, which also drives the networks while it waits, allocates per message. The median over many
 * stretches of messages is taken: what happens once, such as the linking of a rare branch, is no price of a message.
 *
 * <p>Threading: confined to caller.
 */
final class AllocationMeter {
    private static final com.sun.management.ThreadMXBean THREADS =
            (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
    private static final int MOST = 1 << 14;

    private final double[] perMessage = new double[MOST];
    private int count;
    private long before;

    /** A stretch begins. */
    void begin() {
        before = THREADS.getCurrentThreadAllocatedBytes();
    }

    /** Notes the end of a stretch of this many messages. */
    void end(long messages) {
        double bytes = THREADS.getCurrentThreadAllocatedBytes() - before;
        perMessage[count++ % MOST] = bytes / messages;
    }

    void reset() {
        count = 0;
    }

    double medianBytes() {
        double[] sorted = Arrays.copyOf(perMessage, Math.min(count, MOST));
        Arrays.sort(sorted);
        return sorted.length == 0 ? 0 : sorted[sorted.length / 2];
    }
}
