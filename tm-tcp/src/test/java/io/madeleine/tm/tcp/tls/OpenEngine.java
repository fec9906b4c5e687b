package io.madeleine.tm.tcp.tls;

import java.nio.ByteBuffer;
import java.util.function.IntConsumer;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLEngineResult;
import javax.net.ssl.SSLSession;

/** Opens and makes records that nobody has encrypted. Its close_notify is one record. */
final class OpenEngine extends SSLEngine {
    IntConsumer beforeRecord = number -> {};
    private int records;
    private boolean closing;

    @Override
    public SSLEngineResult unwrap(ByteBuffer record, ByteBuffer[] targets, int offset, int length) {
        beforeRecord.accept(++records);
        int consumed = record.remaining();
        targets[offset].put(record.position(record.position() + 5));
        return new SSLEngineResult(
                SSLEngineResult.Status.OK, SSLEngineResult.HandshakeStatus.NOT_HANDSHAKING, consumed, consumed - 5);
    }

    @Override
    public SSLEngineResult.HandshakeStatus getHandshakeStatus() {
        return SSLEngineResult.HandshakeStatus.NOT_HANDSHAKING;
    }

    @Override
    public SSLEngineResult wrap(ByteBuffer[] sources, int offset, int length, ByteBuffer record) {
        int consumed = sources[offset].remaining();
        int before = record.position();
        record.put((byte) (closing ? 0x15 : 0x17)).putShort((short) 0x303).putShort((short) consumed);
        record.put(sources[offset]);
        return new SSLEngineResult(
                SSLEngineResult.Status.OK,
                SSLEngineResult.HandshakeStatus.NOT_HANDSHAKING,
                consumed,
                record.position() - before);
    }

    @Override
    public Runnable getDelegatedTask() {
        throw new UnsupportedOperationException();
    }

    @Override
    public void closeInbound() {}

    @Override
    public boolean isInboundDone() {
        return false;
    }

    @Override
    public void closeOutbound() {
        closing = true;
    }

    @Override
    public boolean isOutboundDone() {
        return false;
    }

    @Override
    public String[] getSupportedCipherSuites() {
        return new String[0];
    }

    @Override
    public String[] getEnabledCipherSuites() {
        return new String[0];
    }

    @Override
    public void setEnabledCipherSuites(String[] suites) {}

    @Override
    public String[] getSupportedProtocols() {
        return new String[0];
    }

    @Override
    public String[] getEnabledProtocols() {
        return new String[0];
    }

    @Override
    public void setEnabledProtocols(String[] protocols) {}

    @Override
    public SSLSession getSession() {
        throw new UnsupportedOperationException();
    }

    @Override
    public void beginHandshake() {}

    @Override
    public void setUseClientMode(boolean mode) {}

    @Override
    public boolean getUseClientMode() {
        return false;
    }

    @Override
    public void setNeedClientAuth(boolean need) {}

    @Override
    public boolean getNeedClientAuth() {
        return true;
    }

    @Override
    public void setWantClientAuth(boolean want) {}

    @Override
    public boolean getWantClientAuth() {
        return true;
    }

    @Override
    public void setEnableSessionCreation(boolean flag) {}

    @Override
    public boolean getEnableSessionCreation() {
        return false;
    }
}
