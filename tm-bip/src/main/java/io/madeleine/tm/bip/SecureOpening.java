package io.madeleine.tm.bip;

import io.madeleine.tm.bip.protocol.Datagram;
import io.madeleine.tm.bip.protocol.DatagramLayout;
import io.madeleine.tm.bip.protocol.Endpoint;
import io.madeleine.tm.bip.protocol.Protection;
import io.madeleine.tm.bip.protocol.ReceiveStream;
import io.madeleine.tm.bip.protocol.SendStream;
import io.madeleine.tm.bip.tls.TlsExchange;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.Arrays;
import javax.net.ssl.SSLException;

/**
 * The TLS handshake of a connection that is to be encrypted. Its records travel over the control stream of an endpoint
 * without protection, whose retransmission carries them. Then both ends derive keys, and an endpoint with protection
 * takes its place. The end that called keeps the first one until it has seen that its peer has keys too: the peer may
 * lack the last records, or refuse the certificate.
 *
 * <p>Threading: the exchange is guarded by the manager's lock, the endpoint by the connection's, too.
 */
final class SecureOpening {
    private static final String INITIATOR_LABEL = "EXPORTER-madeleine-bip-initiator";
    private static final String ACCEPTOR_LABEL = "EXPORTER-madeleine-bip-acceptor";

    private final TlsExchange exchange;
    private final boolean isInitiator;
    private final Endpoint endpoint;
    private final SendStream out;
    private final ReceiveStream in;

    SecureOpening(TlsExchange exchange, boolean isInitiator, Endpoint endpoint) {
        this.exchange = exchange;
        this.isInitiator = isInitiator;
        this.endpoint = endpoint;
        this.out = endpoint.out(DatagramLayout.CONTROL_STREAM);
        this.in = endpoint.in(DatagramLayout.CONTROL_STREAM);
    }

    /** The endpoint without protection. */
    Endpoint endpoint() {
        return endpoint;
    }

    TlsExchange exchange() {
        return exchange;
    }

    /** Whether the datagram is for the endpoint without protection. */
    static boolean concerns(Datagram datagram) {
        return datagram.kind() != DatagramLayout.SEALED;
    }

    /** Whether the handshake can go on. Under the lock. */
    boolean hasWork() {
        return endpoint.state().compareTo(Endpoint.State.CALLING) > 0
                && (hasEnded()
                        || exchange.isReady()
                        || in.readableBytes() > 0 && exchange.room() > 0
                        || exchange.hasOutput() && out.room() > 0);
    }

    /** Whether the peer sends nothing more without protection. Under the lock. */
    boolean hasEnded() {
        return endpoint.hasPeerEnded() || endpoint.state().compareTo(Endpoint.State.CLOSING) > 0;
    }

    /** Takes what the peer has sent and can be taken now. Under the lock. */
    byte[] take() {
        byte[] bytes = new byte[Math.min(in.readableBytes(), exchange.room())];
        in.take(MemorySegment.ofArray(bytes), 0, bytes.length);
        return bytes;
    }

    /** Hands what there is for the peer to the control stream, as far as it has room. Under the lock. */
    void put() {
        byte[] bytes = exchange.takeOutput(out.room());
        out.append(MemorySegment.ofArray(bytes), 0, bytes.length);
    }

    /** Whether keys can be derived, and the peer needs no more of this end's records than the stream has. */
    boolean isDone() {
        return exchange.isDone() && !(isInitiator && exchange.hasOutput());
    }

    /** The protection with the keys of this TLS session and of this connection alone. */
    Protection protection() throws SSLException {
        long initiatorId = isInitiator ? endpoint.ownId() : endpoint.remoteId();
        long acceptorId = isInitiator ? endpoint.remoteId() : endpoint.ownId();
        byte[] ids = ByteBuffer.allocate(2 * Long.BYTES)
                .putLong(initiatorId)
                .putLong(acceptorId)
                .array();
        byte[] initiator = exchange.secret(INITIATOR_LABEL, ids, Protection.SECRET_BYTES);
        byte[] acceptor = exchange.secret(ACCEPTOR_LABEL, ids, Protection.SECRET_BYTES);
        try {
            return isInitiator ? new Protection(initiator, acceptor) : new Protection(acceptor, initiator);
        } finally {
            Arrays.fill(initiator, (byte) 0);
            Arrays.fill(acceptor, (byte) 0);
        }
    }
}
