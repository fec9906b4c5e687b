package io.madeleine.api;

/** The message was aborted before its end: the sender gave it up, or the memory of one of its blocks was freed. */
public final class MessageAbortedException extends MadeleineException {
    private static final long serialVersionUID = 1L;

    /** Creates the exception with its message. */
    public MessageAbortedException(String message) {
        super(message);
    }

    /** Creates the exception with its message and its cause. */
    public MessageAbortedException(String message, Throwable cause) {
        super(message, cause);
    }
}
