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
 * @param settling how much longer it warms up
 */
record Job(Order order, BlockRing sent, BlockRing received, long startNs, Settling settling) {
    private static final int LEAST_SAMPLES = 5;
    private static final long WARM_MESSAGES = 50_000;

    /** Begins the work on the order now. */
    static Job begin(Order order, BlockRing sent, BlockRing received) {
        return new Job(order, sent, received, System.nanoTime(), new Settling(order.settleNs(), Settling::compiledMs));
    }

    long bytes() {
        return order.bytes();
    }

    /** How long samples may take together. */
    long leftNs() {
        return Math.max(1, order.durationNs() - order.warmNs());
    }

    /**
     * Whether the warm-up goes on: for this time, up to twice as long if the compiler cannot have seen enough, and then
     * while it compiles.
     */
    boolean isCold(long messages) {
        long elapsedNs = System.nanoTime() - startNs;
        long warmNs = order.warmNs();
        boolean early = messages == 0
                || elapsedNs < warmNs
                || (elapsedNs < Math.min(2 * warmNs, order.durationNs() / 2) && messages < WARM_MESSAGES);
        return settling.goesOn(elapsedNs, early);
    }

    /** Whether the time is over and there are enough samples. */
    boolean isOver(long samples) {
        return System.nanoTime() - startNs - settling.lateNs() >= order.durationNs() && samples >= LEAST_SAMPLES;
    }
}
