package io.madeleine.bench.measure;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * The samples of one order that a program carries out with loops of its own: how long it warms up, how long it goes on,
 * and what it found.
 *
 * <p>Threading: confined to caller.
 */
public final class Samples {
    private static final int LEAST_SAMPLES = 5;
    private static final long WARM_MESSAGES = 50_000;
    private static final int MOST = 1 << 16;

    private final Order order;
    private final long startNs = System.nanoTime();
    private final Settling settling;
    private final AllocationMeter allocations = new AllocationMeter();
    private final List<Double> values = new ArrayList<>();

    /** Begins the work on the order now. */
    public Samples(Order order) {
        this.order = order;
        this.settling = new Settling(order.settleNs(), Settling::compiledMs);
    }

    /**
     * Whether it still warms up, after this many messages; up to twice as long if the compiler cannot have seen enough.
     */
    public boolean isCold(long messages) {
        long elapsedNs = System.nanoTime() - startNs;
        boolean early = messages == 0
                || elapsedNs < order.warmNs()
                || (elapsedNs < Math.min(2 * order.warmNs(), order.durationNs() / 2) && messages < WARM_MESSAGES);
        return settling.goesOn(elapsedNs, early);
    }

    /** Whether the time is over and there are enough samples. */
    public boolean isOver() {
        return System.nanoTime() - startNs - settling.lateNs() >= order.durationNs() && values.size() >= LEAST_SAMPLES;
    }

    /** How long a sample should take, in nanoseconds, if one of {@code wishedNs} leaves time for ten. */
    public long sampleNs(long wishedNs) {
        return Math.clamp((order.durationNs() - order.warmNs()) / 10, 1, wishedNs);
    }

    /** A sample begins; what this thread allocates from now on is counted. */
    public void begin() {
        allocations.begin();
    }

    /** A sample of this many messages is over; takes its figure. */
    public void end(double value, long messages) {
        allocations.end(messages);
        if (values.size() < MOST) {
            values.add(value);
        }
    }

    /** What was found. */
    public Round round() {
        List<Double> sorted = new ArrayList<>(values);
        Collections.sort(sorted);
        int count = Math.min(Round.MOST_VALUES, sorted.size());
        List<Double> told = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            told.add(sorted.get((int) ((i + 0.5) * sorted.size() / count)));
        }
        return new Round(
                sorted.size(),
                sorted.getFirst(),
                sorted.get(sorted.size() / 2),
                sorted.getLast(),
                told,
                new Usage(allocations.medianBytes(), Double.NaN, Double.NaN, Double.NaN));
    }
}
