package io.madeleine.am;

import io.madeleine.api.Completion;
import io.madeleine.api.OutgoingMessage;

/**
 * A message in a {@link SendQueue}: how it is packed, and what is done when its fate is known. Exactly one of {@link #sent}, {@link
 * #failed} and {@link #lost} is called.
 *
 * <p>Threading: its methods are called by one thread at a time, which runs a send task or handles the loss of the connection.
 */
public interface QueuedMessage {
    /** How much it counts against the queue's bound. */
    long bytes();

    /** Packs everything, up to the end, which is the queue's affair. */
    void pack(OutgoingMessage message);

    /**
     * It is on its way.
     *
     * @param completion when its blocks may be reused; belongs to the message and is not kept beyond that
     */
    void sent(Completion completion);

    /** It could not be packed: its memory has been closed, for instance. */
    void failed(RuntimeException why);

    /** The connection is lost, and nothing of it has been sent. */
    void lost();
}
