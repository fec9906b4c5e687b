package io.madeleine.api;

/** The session could not be opened, or it was closed during the call. */
public final class SessionException extends MadeleineException {
    private static final long serialVersionUID = 1L;

    /** Creates the exception with its message. */
    public SessionException(String message) {
        super(message);
    }

    /** Creates the exception with its message and its cause. */
    public SessionException(String message, Throwable cause) {
        super(message, cause);
    }
}
