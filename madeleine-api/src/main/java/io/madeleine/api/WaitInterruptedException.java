package io.madeleine.api;

/** The waiting thread was interrupted; its interrupt status is set again. What waited is still valid. */
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
