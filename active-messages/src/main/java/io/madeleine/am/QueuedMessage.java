package io.madeleine.am;

import io.madeleine.api.Completion;
import io.madeleine.api.OutgoingMessage;

/**
 * A message in a {@link SendQueue}: how to pack it, and what to do when its outcome is known. The queue calls exactly
 * one of {@link #sent}, {@link #failed} and {@link #lost}.
 *
 * <p>Threading: one thread at a time calls the methods, in a send task or while it handles the loss of the connection.
 */
public interface QueuedMessage {
    /** How many bytes the message counts against the queue's bound. */
    long bytes();

    /** Packs all blocks; the queue ends the message. */
    void pack(OutgoingMessage message);

    /**
     * The message is on its way.
     *
     * @param completion completes when the blocks may be reused; belongs to the message, do not keep it longer
     */
    void sent(Completion completion);

    /** The message could not be packed or sent, for instance because its memory has been closed. */
    void failed(RuntimeException why);

    /** The connection is lost, and nothing of the message has been sent. */
    void lost();
}
