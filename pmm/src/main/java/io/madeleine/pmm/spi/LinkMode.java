package io.madeleine.pmm.spi;

/** How a transmission module likes its buffers (paper, section 3.4, {@code link_mode}). */
public enum LinkMode {
    /** One by one, as soon as they are ready: the eager way. */
    BUFFER,
    /** In groups. */
    BUFFER_GROUP
}
