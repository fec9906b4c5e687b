package io.madeleine.bench;

import java.util.Map;

/**
 * What a message costs by a simple model, latency plus size over bandwidth, fitted to measured times so that the
 * relative errors are small: the smallest messages count as much as the largest.
 *
 * <p>Threading: immutable.
 *
 * @param latencyUs what a message of no bytes would take
 * @param bytesPerUs the bandwidth, MB/s
 */
record CostModel(double latencyUs, double bytesPerUs) {
    /**
     * The model of a mechanism.
     *
     * @param measuredUs times by size, two or more
     */
    static CostModel fit(Map<Long, Double> measuredUs) {
        double ones = 0;
        double sizes = 0;
        double squares = 0;
        double times = 0;
        double products = 0;
        for (Map.Entry<Long, Double> point : measuredUs.entrySet()) {
            double bytes = point.getKey();
            double us = point.getValue();
            double weight = 1 / (us * us);
            ones += weight;
            sizes += weight * bytes;
            squares += weight * bytes * bytes;
            times += weight * us;
            products += weight * bytes * us;
        }
        double slope = (ones * products - sizes * times) / (ones * squares - sizes * sizes);
        double latency = (times - slope * sizes) / ones;
        return latency >= 0
                ? new CostModel(latency, 1 / slope)
                : new CostModel(0, squares / products); // a line through the origin, as no time is negative
    }

    /** What a message of this size should take. */
    double predictedUs(double bytes) {
        return latencyUs + bytes / bytesPerUs;
    }

    /** The size from which this one should be the faster, infinite if never and 0 if always. */
    double fasterFromBytes(CostModel other) {
        double perByteUs = 1 / other.bytesPerUs - 1 / bytesPerUs;
        double ahead = latencyUs - other.latencyUs;
        if (perByteUs <= 0) {
            return ahead < 0 && perByteUs == 0 ? 0 : Double.POSITIVE_INFINITY;
        }
        return Math.max(0, ahead / perByteUs);
    }
}
