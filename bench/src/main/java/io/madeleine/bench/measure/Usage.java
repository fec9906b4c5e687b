package io.madeleine.bench.measure;

/**
 * What the messages of a measurement cost besides time. A figure that a subject cannot tell is NaN.
 *
 * <p>Threading: immutable.
 *
 * @param allocatedBytes heap bytes that the two measuring threads allocated per message
 * @param driverCpuPercent processor time of rank 0 in percent of the time that passed
 * @param responderCpuPercent the same of rank 1
 * @param contextSwitches of both processes, voluntary or not, per message
 */
public record Usage(
        double allocatedBytes, double driverCpuPercent, double responderCpuPercent, double contextSwitches) {
    /** Nothing known. */
    public static final Usage UNKNOWN = new Usage(Double.NaN, Double.NaN, Double.NaN, Double.NaN);
}
