package io.madeleine.tm.tcp;

import java.io.IOException;

/**
 * This process has failed in the middle of a TLS record, for want of memory say: what it would make of the next ones is not what
 * was sent, and nothing can be sent that the peer could read.
 */
final class CutRecordException extends IOException {
    private static final long serialVersionUID = 1L;

    CutRecordException() {
        super("a TLS record could not be brought to its end here, as memory was short");
    }
}
