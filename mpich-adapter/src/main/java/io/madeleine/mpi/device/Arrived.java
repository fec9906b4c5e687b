package io.madeleine.mpi.device;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * A message that has arrived before anybody asked for it: its envelope, and its body or how to get it. A matched probe
 * hands it out; then {@link Device#receiveProbed} receives it.
 *
 * <p>Threading: guarded by the lock of the device; confined to the thread that has taken it out of the table.
 */
public final class Arrived {
    /** The longest body that an object of this class holds itself. */
    static final int INLINE_BYTES = 24;

    enum Stage {
        /** The body is in {@link #inline}. */
        INLINE,
        /** The body is arriving in {@link #block}. */
        ARRIVING,
        /** The body is in {@link #block}. */
        KEPT,
        /** The body is with its sender. */
        REQUESTED,
        /** The body is in the memory of a send of this process. */
        OWN,
        /** There is no body: the operation has failed at rank {@link #sender}, {@link #bytes} is the error class. */
        FAILURE
    }

    final Link<Arrived> byTag = new Link<>(this);
    final Link<Arrived> bySource = new Link<>(this);
    final MemorySegment inline = MemorySegment.ofArray(new byte[INLINE_BYTES]);

    Stage stage = Stage.INLINE;
    int source;
    int tag;
    long bytes;
    int sender;
    boolean hasCredits;
    KeptMemory.@Nullable Block block;

    @Nullable
    SendOperation own;

    /** The receive that has matched the message while its body was still arriving. */
    @Nullable
    ReceiveOperation claimedBy;

    /** The next free one in the pool. */
    @Nullable
    Arrived nextFree;

    Arrived() {}

    /** The session rank of the sender, its tag and length; valid until the message is received. */
    public Envelope envelope() {
        return new Envelope(source, tag, bytes);
    }
}
