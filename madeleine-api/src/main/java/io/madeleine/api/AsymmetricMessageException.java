package io.madeleine.api;

/**
 * The unpack calls do not mirror the pack calls. {@link IncomingMessage} says which differences are detected, and which
 * setting makes the exception name the block. The rest of the message is discarded; the connection stays usable.
 */
public final class AsymmetricMessageException extends MadeleineException {
    private static final long serialVersionUID = 1L;

    /** Creates the exception with its message. */
    public AsymmetricMessageException(String message) {
        super(message);
    }

    /** Creates the exception with its message and its cause. */
    public AsymmetricMessageException(String message, Throwable cause) {
        super(message, cause);
    }
}
