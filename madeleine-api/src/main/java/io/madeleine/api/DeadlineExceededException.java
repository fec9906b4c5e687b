package io.madeleine.api;

/**
 * A wait reached its deadline. What was waited for is still valid and may be waited for again, or closed. A message of one call ({@link
 * Channel#send(int, java.lang.foreign.MemorySegment, SendMode, ReceiveMode) send}, {@link Channel#receive(
 * java.lang.foreign.MemorySegment, SendMode, ReceiveMode) receive}) leaves nothing behind: it has been closed, so that a send is not
 * delivered, and what had arrived for a receive is discarded.
 */
public final class DeadlineExceededException extends MadeleineException {
    private static final long serialVersionUID = 1L;

    /** A failure with its message. */
    public DeadlineExceededException(String message) {
        super(message);
    }

    /** A failure with its message and what caused it. */
    public DeadlineExceededException(String message, Throwable cause) {
        super(message, cause);
    }
}
