package io.madeleine.nexus.wan;

import java.io.IOException;

/** The other end is not what was expected; trying again will not help. */
public final class HandshakeException extends IOException {
    private static final long serialVersionUID = 1L;

    HandshakeException(String message) {
        super(message);
    }
}
