package io.madeleine.api;

/**
 * The common part of incoming and outgoing messages.
 *
 * <p>The message object belongs to its connection. Once closed, it serves another message, so that a message costs no
 * allocation: do not use it after {@link #close()}. An object that is never closed serves no other message; the garbage
 * collector takes it after the end of its message.
 *
 * <p>Threading: one thread at a time. To hand a message to another thread, publish the reference safely; no further
 * synchronisation is needed.
 */
public sealed interface Message extends AutoCloseable permits IncomingMessage, OutgoingMessage {
    /** The channel that carries the message. */
    Channel channel();

    /** The rank of the process at the other end. */
    int remote();

    /**
     * Ends the message in any state: {@link OutgoingMessage#close()} and {@link IncomingMessage#close()} say how, and
     * for what they may wait.
     */
    @Override
    void close();
}
