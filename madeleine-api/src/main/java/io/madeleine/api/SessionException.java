package io.madeleine.api;

/** The session could not be opened, or was closed under the call. */
public final class SessionException extends MadeleineException {
    private static final long serialVersionUID = 1L;

    /** A failure with its message. */
    public SessionException(String message) {
        super(message);
    }

    /** A failure with its message and what caused it. */
    public SessionException(String message, Throwable cause) {
        super(message, cause);
    }
}
