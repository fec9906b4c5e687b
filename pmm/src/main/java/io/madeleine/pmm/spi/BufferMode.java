package io.madeleine.pmm.spi;

/** Which memory a transmission module sends from (paper, section 3.4, {@code buffer_mode}). */
public enum BufferMode {
    /** The module's own buffers: the caller claims one and copies the block into it. */
    STATIC,
    /** The user's blocks themselves, without a copy. */
    DYNAMIC
}
