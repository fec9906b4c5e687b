package io.madeleine.bench.measure;

/**
 * An order, memory of both directions, and when work on it began.
 *
 * <p>Threading: confined to caller.
 *
 * @param order what is to be found out
 * @param sent the blocks to send
 * @param received the blocks to receive into
 * @param startNs since when
 */
record Job(Order order, BlockRing sent, BlockRing received, long startNs) {
    private static final int LEAST_SAMPLES = 5;
    private static final long WARM_MESSAGES = 50_000;

    long bytes() {
        return order.bytes();
    }

    /** How long samples may take together. */
    long leftNs() {
        return Math.max(1, order.durationNs() - order.warmNs());
    }

    /** Until so much time is over; up to twice as long if so far the compiler cannot have seen enough. */
    boolean isCold(long messages) {
        long elapsedNs = System.nanoTime() - startNs;
        long warmNs = order.warmNs();
        return messages == 0
                || elapsedNs < warmNs
                || (elapsedNs < Math.min(2 * warmNs, order.durationNs() / 2) && messages < WARM_MESSAGES);
    }

    /** Whether the time is over and there are samples enough. */
    boolean isOver(long samples) {
        return System.nanoTime() - startNs >= order.durationNs() && samples >= LEAST_SAMPLES;
    }
}
