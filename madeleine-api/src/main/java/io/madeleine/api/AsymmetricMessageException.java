package io.madeleine.api;

/**
 * The unpack calls do not mirror the pack calls; {@link IncomingMessage} says what is noticed, and how to have the block
 * named. The rest of the message is discarded; the connection stays usable.
 */
public final class AsymmetricMessageException extends MadeleineException {
    private static final long serialVersionUID = 1L;

    /** A failure with its message. */
    public AsymmetricMessageException(String message) {
        super(message);
    }

    /** A failure with its message and what caused it. */
    public AsymmetricMessageException(String message, Throwable cause) {
        super(message, cause);
    }
}
