package io.madeleine.tm.bip.tls;

import io.madeleine.pmm.tls.TlsBinding;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.security.GeneralSecurityException;
import java.util.Arrays;
import java.util.concurrent.RejectedExecutionException;
import javax.net.ssl.ExtendedSSLSession;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLEngineResult;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/**
 * One end of a TLS handshake: takes the peer's bytes, makes bytes for the peer, and then derives keys. No data travels
 * as TLS records.
 *
 * <p>Threading: confined, but for {@link #isReady()} and {@link #abandon()}. Work that takes long is done by another
 * thread meanwhile.
 */
public final class TlsExchange {
    /** The exporter that binds the proofs of the session's secret (RFC 5705; RFC 8446, section 7.5). */
    private static final String BINDING_LABEL = "EXPORTER-madeleine-1";

    private static final int BINDING_BYTES = 32;
    private static final byte KIND = 1; // the JDK
    private static final int MOST_CLOSING_STEPS = 8;
    private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

    private final SSLEngine engine;
    private final TlsWork work;
    private final Runnable onStep;
    private final ByteBuffer in;
    private ByteBuffer out;
    private final ByteBuffer data;
    private boolean begun;
    private boolean done;
    private @Nullable Exception failure;
    private boolean isServed;
    private boolean isTurnedAway;
    private volatile boolean ready = true;
    private volatile boolean busy;
    private volatile boolean abandoned;
    private volatile @Nullable Runnable task;

    TlsExchange(SSLEngine engine, TlsWork work, Runnable onStep) {
        this.engine = engine;
        this.work = work;
        this.onStep = onStep;
        this.in = ByteBuffer.allocate(engine.getSession().getPacketBufferSize());
        this.out = ByteBuffer.allocate(engine.getSession().getPacketBufferSize());
        this.data = ByteBuffer.allocate(engine.getSession().getApplicationBufferSize());
    }

    /** Whether {@link #advance} has something to do without further bytes. */
    public boolean isReady() {
        return ready;
    }

    /** How many bytes of the peer {@link #receive} takes now. */
    public int room() {
        return busy || failure != null ? 0 : in.remaining();
    }

    /** Takes bytes of the peer, at most {@link #room()}. */
    public void receive(byte[] bytes) {
        in.put(bytes);
    }

    /** Goes on as far as the bytes of the peer permit. */
    public void advance() {
        if (busy) {
            return;
        }
        ready = false;
        try {
            if (!begun) {
                begun = true;
                engine.beginHandshake();
            }
            while (failure == null && !busy && step()) {
                // one step more
            }
        } catch (IOException | GeneralSecurityException e) {
            fail(e);
        }
    }

    private boolean step() throws IOException, GeneralSecurityException {
        return switch (engine.getHandshakeStatus()) {
            case NEED_TASK -> runTasks();
            case NEED_WRAP -> wrap();
            case NEED_UNWRAP, NEED_UNWRAP_AGAIN -> unwrap();
            case FINISHED, NOT_HANDSHAKING -> {
                done = true;
                yield unwrap(); // perhaps an alert
            }
        };
    }

    private boolean runTasks() throws SSLException {
        if (!isServed && !engine.getUseClientMode() && work.isCrowded()) {
            isTurnedAway = true;
            return false;
        }
        isServed = true;
        busy = true;
        Runnable made = this::runDelegated;
        task = made;
        try {
            work.execute(made);
        } catch (RejectedExecutionException e) {
            throw new SSLException("the adapter is closing", e);
        }
        return false;
    }

    private void runDelegated() {
        task = null;
        try {
            for (Runnable next = engine.getDelegatedTask();
                    next != null && !abandoned;
                    next = engine.getDelegatedTask()) {
                next.run();
            }
        } finally {
            ready = true;
            busy = false;
            onStep.run();
        }
    }

    /** Whether so many exchanges waited when this one of a stranger began that it is not served. */
    public boolean isTurnedAway() {
        return isTurnedAway;
    }

    /** Nobody needs the result any more: what still waits to be done for it is not done. Any thread. */
    public void abandon() {
        abandoned = true;
        Runnable waiting = task;
        if (waiting != null) {
            work.withdraw(waiting);
        }
    }

    private boolean wrap() throws SSLException {
        if (out.remaining() < engine.getSession().getPacketBufferSize()) {
            out = ByteBuffer.allocate(2 * out.capacity()).put(out.flip());
        }
        SSLEngineResult result = engine.wrap(NOTHING, out);
        return result.bytesProduced() > 0 && result.getStatus() == SSLEngineResult.Status.OK;
    }

    private boolean unwrap() throws SSLException {
        in.flip();
        try {
            SSLEngineResult result = engine.unwrap(in, data.clear());
            if (result.getStatus() == SSLEngineResult.Status.CLOSED) {
                throw new SSLException("the peer closed the TLS session");
            }
            if (result.bytesProduced() > 0) {
                throw new SSLException("the peer sent data before it had the keys of datagrams");
            }
            return result.bytesConsumed() > 0;
        } finally {
            in.compact();
        }
    }

    /** Notes the failure, and makes the alert that tells the peer. */
    private void fail(Exception cause) {
        failure = cause;
        try {
            for (int i = 0;
                    i < MOST_CLOSING_STEPS
                            && engine.getHandshakeStatus() == SSLEngineResult.HandshakeStatus.NEED_WRAP
                            && wrap();
                    i++) {
                // one record more
            }
        } catch (SSLException _) {
            // the peer is not told
        }
    }

    /** Whether there are bytes for the peer. */
    public boolean hasOutput() {
        return out.position() > 0;
    }

    /** Takes bytes for the peer, so many at most. */
    public byte[] takeOutput(int most) {
        out.flip();
        byte[] taken = new byte[Math.min(most, out.remaining())];
        out.get(taken);
        out.compact();
        return taken;
    }

    /** Whether the handshake has come to its end at this end, and both certificates are known. */
    public boolean isDone() {
        return done;
    }

    /** Why the handshake failed, or null. */
    public @Nullable Exception failure() {
        return failure;
    }

    /** Derives a secret that only the two ends know (RFC 8446, section 7.5). */
    public byte[] secret(String label, byte[] context, int bytes) throws SSLException {
        return ((ExtendedSSLSession) engine.getSession()).exportKeyingMaterialData(label, context, bytes);
    }

    /** Binds proofs to this handshake; fails if the peer's certificate is not valid now. */
    public TlsBinding binding() throws IOException, GeneralSecurityException {
        byte[] material = secret(BINDING_LABEL, new byte[0], BINDING_BYTES);
        try {
            return TlsBinding.checked(KIND, material, engine.getSession());
        } finally {
            Arrays.fill(material, (byte) 0);
        }
    }
}
