package io.madeleine.pmm.spi;

/** How a transmission module takes its buffers (paper, section 3.4, {@code link_mode}). */
public enum LinkMode {
    /** One by one, each as soon as it is ready (eager). */
    BUFFER,
    /** In groups. */
    BUFFER_GROUP
}
