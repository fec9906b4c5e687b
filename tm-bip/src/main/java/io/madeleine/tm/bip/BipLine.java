package io.madeleine.tm.bip;

import io.madeleine.pmm.handshake.ChannelBinding;
import io.madeleine.pmm.handshake.Handshake;
import io.madeleine.pmm.handshake.HandshakeLine;
import io.madeleine.pmm.handshake.PendingConnection;
import io.madeleine.tm.bip.protocol.Endpoint;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.security.GeneralSecurityException;
import org.jspecify.annotations.Nullable;

/**
 * The line of the handshake over a connection: it carries frames over the control stream, after a TLS handshake where
 * the connection is to be encrypted.
 *
 * <p>Threading: under the manager's lock, but for {@link #hasWork}. It takes the connection's lock for the endpoint.
 */
final class BipLine implements HandshakeLine {
    private final BipConnection connection;
    private final BipProgress progress;
    private final @Nullable BipCall call;
    private ControlLine control; // guarded by the connection's lock
    private @Nullable Handshake handshake;

    /**
     * The line over a connection without protection.
     *
     * @param call the attempt that the connection belongs to, or null at the end that was called
     */
    BipLine(BipConnection connection, BipProgress progress, @Nullable BipCall call) {
        this.connection = connection;
        this.progress = progress;
        this.call = call;
        this.control = new ControlLine(connection.endpoint());
    }

    void handshake(Handshake begun) {
        handshake = begun;
    }

    BipConnection connection() {
        return connection;
    }

    /** Whether the handshake has something to do. Under the connection's lock. */
    boolean hasWork() {
        SecureOpening opening = connection.opening();
        return control.hasFrame() && !connection.lacksKeys()
                || connection.hasEnded()
                || !connection.endpoint().agreesOnEncryption()
                || opening != null && opening.hasWork();
    }

    /** Gives arrived frames to the handshake; returns the number of events. */
    int feed(long nowNs) {
        Handshake fed = handshake;
        if (call != null && connection.remoteId() != 0) {
            call.answered();
        }
        int work = fed == null || fed.isOver() ? 0 : secure(fed, nowNs);
        while (fed != null && !fed.isOver()) {
            ByteBuffer frame;
            boolean ended;
            connection.lock();
            try {
                if (connection.lacksKeys()) {
                    break;
                }
                ended = connection.hasEnded();
                frame = control.take();
            } finally {
                connection.unlock();
            }
            if (frame != null) {
                fed.receive(frame, nowNs);
            } else if (ended) {
                fed.fail(howEnded(connection.endpoint(), "the handshake"), false);
            } else {
                break;
            }
            work++;
        }
        return work;
    }

    /** Drives the TLS handshake if there is one; returns the number of events. */
    private int secure(Handshake fed, long nowNs) {
        SecureOpening first;
        boolean agrees;
        boolean ended = false;
        connection.lock();
        try {
            first = connection.opening();
            agrees = connection.endpoint().agreesOnEncryption();
            if (first != null && agrees) {
                ended = first.hasEnded();
                first.exchange().receive(first.take());
            }
        } finally {
            connection.unlock();
        }
        if (!agrees) {
            fed.fail(BipConfig.disagreement(first != null), true);
            return 1;
        }
        if (first == null) {
            return 0;
        }
        first.exchange().advance();
        connection.lock();
        try {
            first.put();
            connection.flushLocked();
        } finally {
            connection.unlock();
        }
        Exception failure = first.exchange().failure();
        if (first.exchange().isTurnedAway()) {
            fed.fail("too many TLS handshakes wait here at once", false);
        } else if (failure != null) {
            fed.fail(BipConfig.TLS_FAILURES.describe(failure), true);
        } else if (first.isDone() && first.endpoint() == connection.endpoint()) {
            protect(first, fed, nowNs);
        } else if (ended) {
            fed.fail(howEnded(first.endpoint(), "the TLS handshake"), false);
        }
        return 1;
    }

    private String howEnded(Endpoint ended, String step) {
        String reason;
        connection.lock();
        try {
            reason = ended.lossReason();
        } finally {
            connection.unlock();
        }
        if (!reason.isEmpty()) {
            return "the peer was lost during " + step + ": " + reason;
        }
        return "the peer closed the connection during " + step
                + (call == null
                        ? "; its error tells why, unless it tries again because its attempt took longer than its "
                                + BipConfig.PATH + ".handshake.timeout"
                        : "; its log tells why");
    }

    /** Both ends can derive keys: an endpoint with protection takes over. */
    private void protect(SecureOpening first, Handshake fed, long nowNs) {
        try {
            ChannelBinding binding = first.exchange().binding();
            Endpoint made = progress.protectedEndpoint(first, nowNs);
            connection.lock();
            try {
                connection.protectedBy(made);
                control = new ControlLine(made);
                if (call == null) {
                    connection.endOpening(); // the end that called has keys if this one has
                }
            } finally {
                connection.unlock();
            }
            fed.start(binding);
            connection.flush();
        } catch (IOException | GeneralSecurityException e) {
            fed.fail(BipConfig.TLS_FAILURES.describe(e), true);
        }
    }

    // ---- HandshakeLine

    @Override
    public String remote() {
        return connection.remote();
    }

    @Override
    public void send(byte[] frame) {
        connection.lock();
        try {
            if (!connection.isOver() && !connection.lacksKeys()) {
                control.send(frame);
                connection.flushLocked();
            }
        } finally {
            connection.unlock();
        }
    }

    @Override
    public void established(PendingConnection wanted, byte[] lastFrame) {
        connection.establish(wanted.request());
        if (lastFrame.length > 0) {
            send(lastFrame);
        }
        wanted.complete(connection);
    }

    @Override
    public void failed(byte[] lastFrame, String reason, boolean decided) {
        boolean isAnswered = connection.remoteId() != 0;
        if (lastFrame.length > 0) {
            send(lastFrame);
        }
        connection.close();
        progress.refused(connection);
        if (call != null && !decided) {
            call.again(isAnswered);
        }
    }
}
