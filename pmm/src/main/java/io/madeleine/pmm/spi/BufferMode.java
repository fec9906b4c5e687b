package io.madeleine.pmm.spi;

/** Whose memory a transmission module sends from (paper, section 3.4, {@code buffer_mode}). */
public enum BufferMode {
    /** The module's own buffers, claimed and filled by copying. */
    STATIC,
    /** The user's blocks themselves. */
    DYNAMIC
}
