package io.madeleine.bench.report;

import java.util.ArrayList;
import java.util.List;

/**
 * A logarithmic axis.
 *
 * <p>Threading: immutable.
 *
 * @param min the smallest value
 * @param max the largest value
 * @param from where the smallest value is drawn
 * @param to where the largest value is drawn
 */
record LogScale(double min, double max, double from, double to) {
    private static final double[] STEPS = {1, 2, 5};

    /** The smallest axis from and to 1, 2 or 5 times a power of ten that shows all of {@code least} to {@code most}. */
    static LogScale around(double least, double most, double from, double to) {
        double min = step(least, false);
        double max = step(most, true);
        return new LogScale(min, max > min ? max : min * 10, from, to);
    }

    private static double step(double value, boolean up) {
        double decade = Math.pow(10, Math.floor(Math.log10(value)));
        double found = up ? decade * 10 : decade;
        for (double step : STEPS) {
            double candidate = decade * step;
            if (up && candidate >= value * 0.999999) {
                return Math.min(found, candidate);
            }
            if (!up && candidate <= value * 1.000001) {
                found = candidate;
            }
        }
        return found;
    }

    double at(double value) {
        return max == min ? (from + to) / 2 : from + (to - from) * Math.log(value / min) / Math.log(max / min);
    }

    /** The powers of ten; with them twice and five times as much where that leaves fewer than three. */
    List<Double> ticks() {
        List<Double> decades = ticks(new double[] {1});
        return decades.size() >= 3 ? decades : ticks(STEPS);
    }

    private List<Double> ticks(double[] steps) {
        List<Double> ticks = new ArrayList<>();
        for (int power = (int) Math.floor(Math.log10(min)); power <= Math.ceil(Math.log10(max)); power++) {
            for (double step : steps) {
                double tick = step * Math.pow(10, power);
                if (tick >= min * 0.999999 && tick <= max * 1.000001) {
                    ticks.add(tick);
                }
            }
        }
        return ticks;
    }
}
