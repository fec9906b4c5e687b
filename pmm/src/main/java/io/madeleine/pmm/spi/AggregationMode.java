package io.madeleine.pmm.spi;

/** Whether both ends see the same groups (paper, section 3.4, {@code aggregation_mode}). */
public enum AggregationMode {
    /** The receiver takes a group exactly as it was sent: the sender ends a group at each EXPRESS block. */
    SYMMETRIC,
    /** The receiver may take a large group in smaller ones: the sender need not end a group at an EXPRESS block. */
    ASYMMETRIC
}
