package io.madeleine.nexus;

/** A bound has been reached, here or at the other side: the request has not been carried out and may be tried later. */
public final class OverloadedException extends NexusException {
    private static final long serialVersionUID = 1L;

    /** A failure with its message, which names the bound. */
    public OverloadedException(String message) {
        super(message);
    }
}
