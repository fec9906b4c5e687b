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

    /** The memory that contains claimed buffers; the same segment for the life of the link. */
    MemorySegment memory();

    /**
     * Sends the claimed buffer, filled up to the header's payload length. Never waits, since {@link #claim} has found
     * the room. A receiver that is awake sees the packet; for one that may be asleep, call {@link #announce()}
     * afterwards.
     */
    void commit(long header);

    /**
     * Wakes a receiver that sleeps; one call may follow several commits. The caller needs no fence before it: a
     * receiver that falls asleep itself makes sure that no packet is on its way. Any thread.
     */
    void announce();

    /** Returns the claimed buffer unsent. */
    void abandon();
}
