package io.madeleine.nexus;

/**
 * A request has more bytes of small arguments than its receiver takes.
 *
 * <p>Threading: as {@link NexusException}.
 */
final class TooLargeException extends NexusException {
    private static final long serialVersionUID = 1;

    TooLargeException(int bytes, int most) {
        super("a request with " + bytes + " bytes of small arguments has come: expected at most " + most
                + " (ContextOptions.maxRequestBytes)");
    }
}
