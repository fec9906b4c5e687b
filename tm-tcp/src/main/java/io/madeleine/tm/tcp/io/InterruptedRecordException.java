package io.madeleine.tm.tcp.io;

import java.io.IOException;

/**
 * This process failed in the middle of a TLS record, for example for lack of memory. It can no longer decrypt what
 * follows, nor send anything that the peer could decrypt.
 */
public final class InterruptedRecordException extends IOException {
    private static final long serialVersionUID = 1L;

    public InterruptedRecordException() {
        super("this process failed in the middle of a TLS record, as memory was short");
    }
}
