package io.madeleine.bench;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/**
 * Tells whether the machine was quiet: a fixed computation and the hand-over of a cache line between two threads are
 * timed before, between and after the rounds. On a quiet machine they always take the same time.
 *
 * <p>A round counts as noisy if, right before or right after it, one of the two took {@value #TOLERANCE} times as long
 * as it can.
 *
 * <p>Threading: confined to caller.
 */
final class Calibration {
    /** How many times as long as at best a measurement may take on a quiet machine. */
    static final double TOLERANCE = 1.3;

    private static final int REPETITIONS = 24;
    private static final int COMPUTATION_STEPS = 200_000;
    private static final int HAND_OVERS = 500;
    private static final int WARM_UP = 3;

    /** One measurement: the medians of its repetitions, in nanoseconds. */
    record Look(double computationNs, double handOverNs) {}

    private final List<Look> looks = new ArrayList<>();
    private final Supplier<Look> taker;
    private long sink;

    Calibration() {
        this.taker = this::take;
    }

    /** A calibration from measurements that were made elsewhere. */
    Calibration(Supplier<Look> taker) {
        this.taker = taker;
    }

    /** Measures once; the first time takes longer, until the code is compiled. */
    void look() {
        if (looks.isEmpty()) {
            for (int i = 0; i < WARM_UP; i++) {
                looks.add(taker.get());
            }
            looks.clear();
        }
        looks.add(taker.get());
    }

    private Look take() {
        double[] computations = new double[REPETITIONS];
        for (int i = 0; i < REPETITIONS; i++) {
            long beginNs = System.nanoTime();
            sink += compute();
            computations[i] = System.nanoTime() - beginNs;
        }
        return new Look(Figures.median(computations), Figures.median(HandOver.measure(REPETITIONS, HAND_OVERS)));
    }

    private long compute() {
        long value = sink | 1;
        for (int i = 0; i < COMPUTATION_STEPS; i++) {
            value = value * 0x5851F42D4C957F2DL + 0x14057B7EF767814FL;
        }
        return value;
    }

    /** The spread of the measurements, as a fraction: the larger one of the two kinds. */
    double spread() {
        return spread(looks);
    }

    static double spread(List<Look> looks) {
        return Math.max(
                range(looks.stream().mapToDouble(Look::computationNs).toArray()),
                range(looks.stream().mapToDouble(Look::handOverNs).toArray()));
    }

    private static double range(double... values) {
        double smallest = Double.MAX_VALUE;
        double largest = 0;
        for (double value : values) {
            smallest = Math.min(smallest, value);
            largest = Math.max(largest, value);
        }
        return values.length == 0 ? 0 : (largest - smallest) / smallest;
    }

    /** The rounds, counted from 0, right before or after which a measurement was slow. */
    List<Integer> noisyRounds() {
        return noisyRounds(looks);
    }

    static List<Integer> noisyRounds(List<Look> looks) {
        double computationNs =
                looks.stream().mapToDouble(Look::computationNs).min().orElse(0);
        double handOverNs = looks.stream().mapToDouble(Look::handOverNs).min().orElse(0);
        List<Integer> noisy = new ArrayList<>();
        for (int round = 0; round + 1 < looks.size(); round++) {
            for (Look look : looks.subList(round, round + 2)) {
                if ((look.computationNs() > TOLERANCE * computationNs || look.handOverNs() > TOLERANCE * handOverNs)
                        && !noisy.contains(round)) {
                    noisy.add(round);
                }
            }
        }
        return noisy;
    }
}
