package io.madeleine.api;

/** What every failure of Madeleine is: it says what happened, where, what was expected and what mends it. */
public abstract class MadeleineException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** A failure with its message. */
    protected MadeleineException(String message) {
        super(message);
    }

    /** A failure with its message and what caused it. */
    protected MadeleineException(String message, Throwable cause) {
        super(message, cause);
    }
}
