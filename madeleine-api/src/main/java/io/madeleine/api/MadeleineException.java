package io.madeleine.api;

/**
 * The superclass of all failures of Madeleine. The message says what happened, where, what was expected, and how to
 * mend it.
 */
public abstract class MadeleineException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** Creates the exception with its message. */
    protected MadeleineException(String message) {
        super(message);
    }

    /** Creates the exception with its message and its cause. */
    protected MadeleineException(String message, Throwable cause) {
        super(message, cause);
    }
}
