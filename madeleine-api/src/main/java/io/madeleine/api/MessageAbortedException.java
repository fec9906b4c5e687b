package io.madeleine.api;

/** The message was given up before its end, by the sender or because one of its blocks became inaccessible. */
public final class MessageAbortedException extends MadeleineException {
    private static final long serialVersionUID = 1L;

    /** A failure with its message. */
    public MessageAbortedException(String message) {
        super(message);
    }

    /** A failure with its message and what caused it. */
    public MessageAbortedException(String message, Throwable cause) {
        super(message, cause);
    }
}
