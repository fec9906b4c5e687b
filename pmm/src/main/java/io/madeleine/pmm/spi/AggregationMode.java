package io.madeleine.pmm.spi;

/** Whether groups look alike at both ends (paper, section 3.4, {@code aggregation_mode}). */
public enum AggregationMode {
    /** A group is received as it was sent: the sender ends it at each EXPRESS block. */
    SYMMETRIC,
    /** The receiver extracts smaller groups from a larger one: the sender groups regardless of EXPRESS. */
    ASYMMETRIC
}
