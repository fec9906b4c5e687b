package io.madeleine.admission;

import java.nio.ByteBuffer;

/**
 * The server's half of a handshake with one client, up to the client's proof of the secret. It does no input or output
 * itself, so that one thread can serve all clients.
 *
 * <p>Threading: confined to the thread that serves the connection; once proven, to the host.
 */
public interface ServerHandshake {
    /** The server's first bytes; a few. */
    byte[] opening();

    /** The buffer for the client's bytes; it has no room for bytes after the handshake. */
    ByteBuffer received();

    /**
     * Whether the client has sent its whole part and proved that it knows the secret.
     *
     * @throws HandshakeException as soon as it is certain that this will not happen
     */
    boolean isProven() throws HandshakeException;
}
