package io.madeleine.nexus.wan;

import java.io.IOException;

/** The other end is not what was expected; trying again will not help. */
public final class HandshakeException extends IOException {
    private static final long serialVersionUID = 1L;

    private final byte[] farewell;

    HandshakeException(String message) {
        this(message, new byte[0]);
    }

    HandshakeException(String message, byte[] farewell) {
        super(message);
        this.farewell = farewell;
    }

    /** What the other end may be told. */
    byte[] farewell() {
        return farewell.clone();
    }
}
