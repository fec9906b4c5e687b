package io.madeleine.api;

/** A wait reached its deadline. What waited is still valid and may be waited for again, or closed. */
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
