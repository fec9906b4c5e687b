package io.madeleine.admission;

import java.io.IOException;

/** The peer is not the expected one; another attempt is useless. */
public final class HandshakeException extends IOException {
    private static final long serialVersionUID = 1L;

    private final byte[] farewell;

    /** An error of which the peer is not told. */
    public HandshakeException(String message) {
        this(message, new byte[0]);
    }

    /** An error with the bytes that tell the peer. */
    public HandshakeException(String message, byte[] farewell) {
        super(message);
        this.farewell = farewell.clone();
    }

    /** The bytes that tell the peer; empty if it would not understand them. */
    public byte[] farewell() {
        return farewell.clone();
    }
}
