package io.madeleine.nexus;

/**
 * The other context is being closed, or has been: the call has not been carried out and will not be there. It may be made again,
 * elsewhere or later.
 */
public final class UnavailableException extends NexusException {
    private static final long serialVersionUID = 1L;

    /** A failure with its message. */
    public UnavailableException(String message) {
        super(message);
    }
}
