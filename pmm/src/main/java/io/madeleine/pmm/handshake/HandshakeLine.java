package io.madeleine.pmm.handshake;

/**
 * A driver's line to one peer, which carries whole frames in order.
 *
 * <p>Threading: the thread that feeds the {@link ConnectionManager} calls it; the calls must not wait.
 */
public interface HandshakeLine {
    /** The peer's address, for messages. */
    String remote();

    /**
     * Sends a frame of at most {@link HandshakeFrames#MAX_FRAME_BYTES}.
     *
     * <p>Ownership: the frame passes to the line.
     */
    void send(byte[] frame);

    /**
     * Both sides want the connection. The line sends the last frame unless it is empty, becomes a connection, and
     * {@linkplain PendingConnection#complete completes} the request with it; from now on the peer sends packets. If the
     * line breaks before that, it calls {@link Handshake#fail}.
     */
    void established(PendingConnection wanted, byte[] lastFrame);

    /**
     * The handshake has failed: the line sends the last frame unless it is empty, and closes.
     *
     * @param reason the reason, as a clause
     * @param decided whether one side refused the other, so that another attempt is useless; the initiator's request
     *     then fails
     */
    void failed(byte[] lastFrame, String reason, boolean decided);
}
