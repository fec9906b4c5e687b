package io.madeleine.pmm.handshake;

/** A frame violates the format of the handshake. */
public final class MalformedFrameException extends Exception {
    private static final long serialVersionUID = 1L;

    /** An error with its description, as a clause. */
    public MalformedFrameException(String message) {
        super(message);
    }
}
