package io.madeleine.pmm.spi;

import java.lang.foreign.MemorySegment;

/**
 * A link that sends from its own buffers: claim one, fill it, commit it (paper, Table 2, {@code allocate_static_buffer}
 * and {@code send_buffer}). At most one buffer is claimed at a time.
 *
 * <p>Ownership: a claimed buffer is the caller's until {@code commit} or {@code abandon}.
 */
public non-sealed interface StaticLink extends TransmissionLink {
    /**
     * Claims a buffer of {@link TransmissionCapabilities#bufferBytes()} bytes.
     *
     * @return the offset of the buffer in {@link #memory()}, or {@link LinkStatus#PENDING} or
     *     {@link LinkStatus#CLOSED}
     */
    long claim();

    /** The memory that claimed buffers lie in; the same segment for the life of the link. */
    MemorySegment memory();

    /**
     * Sends the claimed buffer, of which the header's payload length says how much is filled. Never waits: claiming was
     * the wait. A receiver that is awake sees it; for one that may be asleep {@link #announce()} follows.
     */
    void commit(long header);

    /**
     * Tells a receiver that sleeps of what has been committed; once for several commits will do. The caller needs no fence
     * between: it is for who falls asleep to make sure that nothing is on its way to him. Any thread.
     */
    void announce();

    /** Gives the claimed buffer back unsent. */
    void abandon();
}
