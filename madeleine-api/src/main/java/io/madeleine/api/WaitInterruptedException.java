package io.madeleine.api;

/**
 * The waiting thread was interrupted; its interrupt status is set again. The object of the wait is still valid, except
 * for the calls that move a whole message ({@code send} and {@code receive} of {@link Channel}): these have closed the
 * message, as at a deadline.
 *
 * <p>A wait whose condition is not met also ends this way if it ran a {@linkplain Channel#onMessage message handler} or
 * the action of a {@link Completion} that left the interrupt status set: the engine cannot tell this from an interrupt
 * by another thread. The waits of the handler itself never end this way.
 */
public final class WaitInterruptedException extends MadeleineException {
    private static final long serialVersionUID = 1L;

    /** Creates the exception with its message. */
    public WaitInterruptedException(String message) {
        super(message);
    }

    /** Creates the exception with its message and its cause. */
    public WaitInterruptedException(String message, Throwable cause) {
        super(message, cause);
    }
}
