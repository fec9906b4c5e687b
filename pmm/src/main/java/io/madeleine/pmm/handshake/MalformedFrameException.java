package io.madeleine.pmm.handshake;

/** A frame or its body is not what it has to be. */
public final class MalformedFrameException extends Exception {
    private static final long serialVersionUID = 1L;

    /** Says what is wrong, as a clause. */
    public MalformedFrameException(String message) {
        super(message);
    }
}
