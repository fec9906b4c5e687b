package io.madeleine.tm.tcp.tls;

import io.madeleine.pmm.ProgressEngine;
import io.madeleine.tm.tcp.io.ByteQueue;
import io.madeleine.tm.tcp.io.InterruptedRecordException;
import io.madeleine.tm.tcp.io.Wire;
import io.madeleine.tm.tcp.tls.TlsBuffers.Scratch;
import io.netty.util.ReferenceCounted;
import java.io.IOException;
import java.nio.ByteBuffer;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLEngineResult;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/**
 * The receiving half of a {@link TlsWire}: decrypts records, several of which may arrive with one read.
 *
 * <p>Threading: one thread at a time; {@link #hasArrived} is a hint for others.
 */
final class TlsInput {
    private static final int HEAD_BYTES = 5;

    private final Wire socket;
    private final SSLEngine engine;
    private final TlsBuffers buffers;

    /** Records that have been read and not decrypted. */
    private final ByteQueue in;

    /** Plaintext that has not been taken. */
    private @Nullable Scratch opened;

    private boolean ended;

    /** Whether the engine has failed within a record, so that it would decrypt the next ones wrongly. */
    private boolean ruined;

    /** Whether there are bytes that no readiness event of the socket reports; read by other threads. */
    private volatile boolean arrived;

    /** Begins with {@code leftover}, the bytes that were read from the socket and not decrypted. */
    TlsInput(Wire socket, SSLEngine engine, TlsBuffers buffers, byte[] leftover) {
        this.socket = socket;
        this.engine = engine;
        this.buffers = buffers;
        this.in = new ByteQueue(buffers.records());
        if (leftover.length > 0) {
            in.begin(ByteBuffer.wrap(leftover));
            arrived = true;
        }
    }

    /** Whether a read would bring bytes even if the socket has none. */
    boolean hasArrived() {
        return arrived;
    }

    /** See {@link Wire#read}. */
    int read(ByteBuffer target) throws IOException {
        if (ruined) {
            throw new InterruptedRecordException();
        }
        int start = target.position();
        try {
            return readRecords(target);
        } catch (Error e) {
            ruined |= target.position() != start; // the caller would not learn of these bytes
            throw e;
        } finally {
            boolean more = opened != null || hasRecord();
            if (arrived != more) {
                arrived = more;
            }
        }
    }

    private int readRecords(ByteBuffer target) throws IOException {
        int read = takeOpened(target);
        read += decrypt(target, read);
        if (!target.hasRemaining() || opened != null || ended) { // opened is set: memory was freed
            return read > 0 || !ended ? read : -1;
        }
        in.compact();
        int came = readSocket();
        if (came > 0) {
            read += decrypt(target, read);
        }
        ended |= came < 0;
        return read > 0 || !ended ? read : -1;
    }

    /** Appends a batch behind the incomplete record. */
    private int readSocket() throws IOException {
        try {
            ByteBuffer room = in.room();
            int came = socket.read(room.limit(room.position() + TlsBuffers.BATCH_BYTES));
            in.filledTo(room.position());
            return came;
        } finally {
            in.giveBackIfEmpty();
        }
    }

    private int takeOpened(ByteBuffer target) {
        Scratch source = opened;
        if (source == null) {
            return 0;
        }
        ByteBuffer plain = source.plain();
        int count = Math.min(plain.remaining(), target.remaining());
        target.put(target.position(), plain, plain.position(), count); // throws here if the memory has been freed
        target.position(target.position() + count);
        plain.position(plain.position() + count);
        if (!plain.hasRemaining()) {
            opened = null;
            buffers.scratches().give(source);
        }
        return count;
    }

    /** Decrypts the complete records until the target is full. */
    private int decrypt(ByteBuffer target, int before) throws SSLException {
        int total = 0;
        int record;
        while (target.hasRemaining() && !ended && (record = recordBytes()) > 0) {
            Scratch scratch = buffers.scratches().take();
            open(scratch, record);
            if (scratch.plain().hasRemaining()) {
                opened = scratch;
                try {
                    total += takeOpened(target);
                } catch (IllegalStateException e) { // the memory has been freed
                    if (before + total == 0) {
                        throw e;
                    }
                    ProgressEngine.afterFreedMemory();
                    break;
                }
            } else {
                buffers.scratches().give(scratch);
            }
        }
        return total;
    }

    /** The size of the front record, or 0 if it is incomplete. */
    private int recordBytes() throws SSLException {
        if (in.bytes() < HEAD_BYTES) {
            return 0;
        }
        int bytes = HEAD_BYTES + Short.toUnsignedInt(in.shortAt(HEAD_BYTES - Short.BYTES));
        if (bytes > TlsBuffers.RECORD_BYTES) {
            throw new SSLException("a record of " + bytes + " bytes, at most " + TlsBuffers.RECORD_BYTES + " expected");
        }
        return in.bytes() < bytes ? 0 : bytes;
    }

    private void open(Scratch scratch, int recordBytes) throws SSLException {
        ruined = true; // until the record is complete
        ByteBuffer record = in.front(recordBytes);
        if (!buffers.direct()) {
            record = scratch.record().clear().put(record).flip();
        }
        ByteBuffer plain = scratch.plain().clear();
        try {
            unwrap(record, plain);
        } finally {
            in.taken(recordBytes);
        }
        plain.flip();
        ruined = false;
    }

    private void unwrap(ByteBuffer record, ByteBuffer plain) throws SSLException {
        while (record.hasRemaining()) {
            SSLEngineResult result = engine.unwrap(record, plain);
            TlsWire.runTasks(engine, result);
            if (result.getStatus() == SSLEngineResult.Status.CLOSED) {
                ended = true;
                break;
            }
            if (result.getStatus() != SSLEngineResult.Status.OK
                    || isFailureKeptBack(result)
                    || result.bytesConsumed() == 0
                            && result.getHandshakeStatus() != SSLEngineResult.HandshakeStatus.NEED_TASK) {
                throw new SSLException("a record that cannot be decrypted: " + result);
            }
        }
    }

    /**
     * Whether a Netty engine has failed without throwing: it throws only after its alert has been taken. Nothing else
     * makes it ask for a wrap here.
     */
    private boolean isFailureKeptBack(SSLEngineResult result) {
        return engine instanceof ReferenceCounted
                && result.getHandshakeStatus() == SSLEngineResult.HandshakeStatus.NEED_WRAP;
    }

    private boolean hasRecord() {
        try {
            return recordBytes() > 0;
        } catch (SSLException _) {
            return true; // the next read reports the failure
        }
    }
}
