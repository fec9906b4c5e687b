package io.madeleine.admission;

import java.io.IOException;

/** The other end is not what was expected; trying again will not help. */
public final class HandshakeException extends IOException {
    private static final long serialVersionUID = 1L;

    private final byte[] farewell;

    /** Of which the other end is told nothing. */
    public HandshakeException(String message) {
        this(message, new byte[0]);
    }

    /** With what the other end is told. */
    public HandshakeException(String message, byte[] farewell) {
        super(message);
        this.farewell = farewell.clone();
    }

    /** What the other end is to be told; empty if it would not understand. */
    public byte[] farewell() {
        return farewell.clone();
    }
}
