package io.madeleine.pmm.tls;

import io.madeleine.pmm.handshake.ChannelBinding;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.cert.Certificate;
import java.security.cert.X509Certificate;
import javax.net.ssl.SSLSession;

/**
 * The channel binding: it identifies a TLS session in the proofs of the session's secret. It consists of the
 * implementation of each end, both certificates as this end saw them, and a secret of the TLS session if both
 * implementations compute the same one. A man in the middle has two TLS sessions and must show a certificate of its
 * own to at least one end. Then the proofs of the two ends differ. They also differ if it changes the implementation
 * that an end has announced.
 *
 * <p>Threading: immutable.
 */
public final class TlsBinding implements ChannelBinding {
    private final byte kind;
    private final byte[] keyingMaterial;
    private final byte[] ownCertificate;
    private final byte[] peerCertificate;

    private TlsBinding(byte kind, byte[] keyingMaterial, byte[] ownCertificate, byte[] peerCertificate) {
        this.kind = kind;
        this.keyingMaterial = keyingMaterial;
        this.ownCertificate = ownCertificate;
        this.peerCertificate = peerCertificate;
    }

    /**
     * The binding of a session whose handshake is over. Checks the dates of the peer's certificate, because the trust
     * manager does not check those of a certificate that is itself trusted.
     *
     * @param kind distinguishes implementations that compute different secrets
     * @param keyingMaterial a secret of the session
     */
    public static TlsBinding checked(byte kind, byte[] keyingMaterial, SSLSession session)
            throws IOException, GeneralSecurityException {
        X509Certificate peer = (X509Certificate) session.getPeerCertificates()[0];
        peer.checkValidity();
        Certificate[] own = session.getLocalCertificates();
        return new TlsBinding(
                kind,
                keyingMaterial.clone(),
                own == null ? new byte[0] : digest(own[0]), // the peer requested none, or trusts none of its issuers
                digest(peer));
    }

    private static byte[] digest(Certificate certificate) throws GeneralSecurityException {
        return MessageDigest.getInstance("SHA-256").digest(certificate.getEncoded());
    }

    @Override
    public byte kind() {
        return kind;
    }

    @Override
    public byte[] with(byte peerKind, boolean isInitiator) {
        byte[] secret = peerKind == kind ? keyingMaterial : new byte[0];
        byte[] initiator = isInitiator ? ownCertificate : peerCertificate;
        byte[] acceptor = isInitiator ? peerCertificate : ownCertificate;
        return ByteBuffer.allocate(2 + initiator.length + acceptor.length + secret.length)
                .put(isInitiator ? kind : peerKind)
                .put(isInitiator ? peerKind : kind)
                .put(initiator)
                .put(acceptor)
                .put(secret)
                .array();
    }
}
