package io.madeleine.pmm.handshake;

/**
 * What names the protected line that a handshake runs over, such as a TLS session (RFC 5056): part of every proof, so that nobody
 * can stand between two lines and pass proofs on.
 */
public interface ChannelBinding {
    /** Tells this end's implementation from others. */
    byte kind();

    /** The bytes that go into the proofs, the same at both ends, when the peer says that it has that kind. */
    byte[] with(byte peerKind, boolean isInitiator);
}
