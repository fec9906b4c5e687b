package io.madeleine.tm.tcp;

/** What a peer sent is not of the protocol; the message is the clause that {@code onLost} reports. */
final class BrokenStreamException extends Exception {
    private static final long serialVersionUID = 1L;

    private final String reason;

    BrokenStreamException(String reason) {
        super(reason);
        this.reason = reason;
    }

    String reason() {
        return reason;
    }
}
