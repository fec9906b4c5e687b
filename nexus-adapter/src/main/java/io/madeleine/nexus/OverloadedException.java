package io.madeleine.nexus;

/** A bound is reached, here or at the other side: the request has not been executed and may be repeated later. */
public final class OverloadedException extends NexusException {
    private static final long serialVersionUID = 1L;

    /** Creates a failure with a message that names the bound. */
    public OverloadedException(String message) {
        super(message);
    }
}
