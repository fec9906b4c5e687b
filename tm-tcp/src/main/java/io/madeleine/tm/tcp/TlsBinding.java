package io.madeleine.tm.tcp;

import io.madeleine.pmm.handshake.ChannelBinding;
import io.madeleine.tm.tcp.spi.TlsEngine;
import java.io.IOException;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.cert.Certificate;
import java.security.cert.X509Certificate;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLSession;

/**
 * What names a TLS session for the proofs: which implementation each end has, both certificates as this end saw them, and a secret
 * of the session itself where both implementations compute the same one. Who stands between has to show a certificate of
 * its own to one end at least, and has two sessions; the proofs of the ends differ then, and so they do if it changes
 * what an end says of its implementation.
 *
 * <p>Threading: immutable.
 */
final class TlsBinding implements ChannelBinding {
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
     * Of a session whose handshake is over, once its peer's certificate has been looked at: nobody looks at the dates of one that is
     * trusted by itself.
     */
    static TlsBinding checked(TlsEngine implementation, SSLEngine engine) throws IOException, GeneralSecurityException {
        SSLSession session = engine.getSession();
        X509Certificate peer = (X509Certificate) session.getPeerCertificates()[0];
        peer.checkValidity();
        Certificate[] own = session.getLocalCertificates();
        return new TlsBinding(
                implementation.kind(),
                implementation.keyingMaterial(engine),
                own == null ? new byte[0] : digest(own[0]), // the peer has not asked, or trusts nobody who signed it
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
        return java.nio.ByteBuffer.allocate(2 + initiator.length + acceptor.length + secret.length)
                .put(isInitiator ? kind : peerKind)
                .put(isInitiator ? peerKind : kind)
                .put(initiator)
                .put(acceptor)
                .put(secret)
                .array();
    }
}
