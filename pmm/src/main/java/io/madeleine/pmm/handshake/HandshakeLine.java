package io.madeleine.pmm.handshake;

/**
 * What a driver gives for a handshake: a line to one peer that carries frames, whole and in order.
 *
 * <p>Threading: called by the thread that feeds the {@link ConnectionManager}; must not wait.
 */
public interface HandshakeLine {
    /** Where the peer is, for messages. */
    String remote();

    /** Sends a frame of at most {@link HandshakeFrames#MAX_FRAME_BYTES}. Ownership: the frame is the line's. */
    void send(byte[] frame);

    /**
     * Both sides want the connection. Sends the last frame, unless it is empty, makes a connection of the line and {@linkplain
     * PendingConnection#complete completes} what was wanted with it; what the peer sends from now on are packets. A line that breaks
     * before that tells {@link Handshake#fail}.
     */
    void established(PendingConnection wanted, byte[] lastFrame);

    /**
     * The handshake has come to nothing: sends the last frame, unless it is empty, and closes the line.
     *
     * @param reason why
     * @param decided whether one side refused the other, so that trying again is useless: the initiator's request fails then
     */
    void failed(byte[] lastFrame, String reason, boolean decided);
}
