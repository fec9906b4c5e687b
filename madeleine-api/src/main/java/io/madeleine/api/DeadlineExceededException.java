package io.madeleine.api;

/**
 * A wait reached its deadline. The object of the wait (message, completion) is still valid: wait for it again, or close
 * it.
 *
 * <p>The calls that move a whole message ({@link Channel#send(int, java.lang.foreign.MemorySegment, SendMode,
 * ReceiveMode) send}, {@link Channel#receive(java.lang.foreign.MemorySegment, SendMode, ReceiveMode) receive}) leave
 * nothing open: they have closed the message. A send is then not delivered, and the part of a message that a receive
 * had got is discarded.
 */
public final class DeadlineExceededException extends MadeleineException {
    private static final long serialVersionUID = 1L;

    /** Creates the exception with its message. */
    public DeadlineExceededException(String message) {
        super(message);
    }

    /** Creates the exception with its message and its cause. */
    public DeadlineExceededException(String message, Throwable cause) {
        super(message, cause);
    }
}
