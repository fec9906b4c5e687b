package io.madeleine.tm.tcp.stream;

/** The peer violated the protocol. The message is the reason that {@code onLost} reports, as a clause. */
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
