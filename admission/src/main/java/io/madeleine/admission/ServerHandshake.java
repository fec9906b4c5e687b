package io.madeleine.admission;

import java.nio.ByteBuffer;

/**
 * The server's half of a handshake with one client, as far as it proves that the client knows the secret. It reads and writes
 * nothing itself, so that one thread can serve all who connect.
 *
 * <p>Threading: confined to the thread that serves the connection; one that was proven is its host's.
 */
public interface ServerHandshake {
    /** What the server says first: a few bytes. */
    byte[] opening();

    /** Where to put what the client says; it takes no byte of what comes after the handshake. */
    ByteBuffer received();

    /**
     * Whether the client has said all it has to, and proved that it knows the secret.
     *
     * @throws HandshakeException as soon as it is clear that it never will
     */
    boolean isProven() throws HandshakeException;
}
