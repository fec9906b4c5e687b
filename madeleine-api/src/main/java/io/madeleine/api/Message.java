package io.madeleine.api;

/**
 * What incoming and outgoing messages share. The object belongs to the connection and, once closed, serves another message,
 * so that a message costs no allocation: it is not to be used after {@link #close()}. One that is never closed serves no other
 * message, and is left to the garbage collector after its end.
 *
 * <p>Threading: one thread at a time; the hand-over from one thread to the next needs no synchronisation beyond one
 * that makes the hand-over itself visible.
 */
public sealed interface Message extends AutoCloseable permits IncomingMessage, OutgoingMessage {
    /** The channel that carries the message. */
    Channel channel();

    /** The rank of the process at the other end. */
    int remote();

    /** Ends the message whatever its state; see the two kinds. Never waits. */
    @Override
    void close();
}
