package io.madeleine.pmm.handshake;

/**
 * Identifies the protected line of a handshake, such as a TLS session (RFC 5056). It is part of every proof, so that no
 * third party between two lines can relay proofs.
 */
public interface ChannelBinding {
    /** Distinguishes this end's implementation from others. */
    byte kind();

    /** The bytes that go into the proofs, the same at both ends, for a peer of this kind. */
    byte[] with(byte peerKind, boolean isInitiator);
}
