package io.madeleine.session.bootstrap;

import io.madeleine.admission.Proofs;
import java.util.HexFormat;
import java.util.List;

/**
 * The bootstrap of a session with one process.
 *
 * <p>Threading: thread-safe.
 */
public final class SoloBootstrap implements Bootstrap {
    private final String sessionId = HexFormat.of().formatHex(Proofs.nonce(), 0, 8) + "-solo";

    private volatile EndListener endListener = _ -> {};

    @Override
    public String sessionId() {
        return sessionId;
    }

    @Override
    public void listen(Events events) {}

    @Override
    public List<byte[]> exchange(String key, byte[] value, long deadlineNs) {
        return List.of(value);
    }

    @Override
    public void onEnd(EndListener listener) {
        endListener = listener;
    }

    @Override
    public void end(int code, String reason) {
        endListener.ended(new ControlMessage.SessionAbort(0, code, reason));
    }

    @Override
    public void abort(String reason) {}

    @Override
    public void close() {}
}
