package io.madeleine.nexus;

/**
 * The other context is being closed or has been closed: it has not executed the call, and never will. The call may be
 * repeated elsewhere or later.
 */
public final class UnavailableException extends NexusException {
    private static final long serialVersionUID = 1L;

    /** Creates a failure with a message. */
    public UnavailableException(String message) {
        super(message);
    }
}
