package io.madeleine.api;

/**
 * The waiting thread was interrupted; its interrupt status is set again. What was waited for is still valid; only a
 * message of one call ({@code send}, {@code receive} of {@link Channel}) has been closed, as at a deadline.
 *
 * <p>So ends also a wait in which a {@linkplain Channel#onMessage message handler} or the action of a {@link Completion} was run
 * that left the thread's interrupt status set: nobody can tell that from an interrupt by another thread. The waits of a
 * handler itself never end so.
 */
public final class WaitInterruptedException extends MadeleineException {
    private static final long serialVersionUID = 1L;

    /** A failure with its message. */
    public WaitInterruptedException(String message) {
        super(message);
    }

    /** A failure with its message and what caused it. */
    public WaitInterruptedException(String message, Throwable cause) {
        super(message, cause);
    }
}
