package io.madeleine.pmm.handshake;

/**
 * Describes the codes of REJECT.
 *
 * <p>Threading: stateless.
 */
final class Rejection {
    private Rejection() {}

    /** Whether another attempt is useless; a peer that was too slow may succeed the next time. */
    static boolean isDecided(byte code) {
        return code != HandshakeFrames.TOO_SLOW;
    }

    static String describe(int code) {
        return switch (code) {
            case HandshakeFrames.OTHER_VERSION ->
                "it speaks another version of the wire protocol; run the same release in all processes";
            case HandshakeFrames.OTHER_SECRET ->
                "the two processes do not have the same session secret (madeleine.session.secret),"
                        + " or a third party stands between them";
            case HandshakeFrames.MALFORMED -> "it could not read what it was sent";
            case HandshakeFrames.TOO_SLOW -> "the handshake took too long";
            case HandshakeFrames.TLS_NEEDED ->
                "it speaks TLS only; set madeleine.tm.tcp.tls.enabled alike in all processes";
            case HandshakeFrames.TLS_NOT_SPOKEN ->
                "it does not speak TLS; set madeleine.tm.tcp.tls.enabled alike in all processes";
            default -> "for a reason unknown to this release (code " + code + ")";
        };
    }
}
