package io.madeleine.tm.tcp;

import io.madeleine.tm.tcp.TlsBuffers.Scratch;
import java.io.IOException;
import java.nio.ByteBuffer;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLEngineResult;
import javax.net.ssl.SSLException;

/**
 * The sending half of a {@link TlsWire}: makes records of bytes. Several leave at a time, with one write; bytes have left when the
 * kernel has taken the last of their records ({@link #flush}).
 *
 * <p>Threading: one thread at a time; {@link #hasUnsent} is a hint for others.
 */
final class TlsOutput {
    private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

    private final Wire socket;
    private final SSLEngine engine;
    private final TlsBuffers buffers;

    /** Records that have not been written. */
    private final LentBuffer out;

    private boolean ending;

    /** Whether the engine has failed within a record: the peer could make nothing of the next ones. */
    private boolean ruined;

    TlsOutput(Wire socket, SSLEngine engine, TlsBuffers buffers) {
        this.socket = socket;
        this.engine = engine;
        this.buffers = buffers;
        this.out = new LentBuffer(buffers.records());
    }

    /** As {@link Wire#write} says; what does not fill a batch stays until {@link #flush}, together with what is written next. */
    int write(ByteBuffer source) throws IOException {
        checkWhole();
        int written = 0;
        while (source.hasRemaining() && (out.tail() < TlsBuffers.BATCH_BYTES || flush())) {
            try {
                written += encrypt(source);
            } catch (IllegalStateException e) { // the memory has been freed
                if (written == 0) {
                    throw e;
                }
                break;
            }
        }
        return written;
    }

    /** Writes the records there are; returns whether the kernel has taken all. */
    boolean flush() throws IOException {
        checkWhole();
        if (out.isEmpty()) {
            return true;
        }
        out.taken(socket.write(out.front(out.bytes())));
        return out.isEmpty();
    }

    private void checkWhole() throws CutRecordException {
        if (ruined) {
            throw new CutRecordException();
        }
    }

    /** Makes records of what there is, as many as leave at a time; returns how many bytes are in them. */
    private int encrypt(ByteBuffer source) throws SSLException {
        ByteBuffer records = out.room();
        Scratch scratch = buffers.scratches().take();
        int encrypted = 0;
        try {
            do {
                ByteBuffer plain = scratch.plain().clear();
                int bytes = Math.min(source.remaining(), TlsBuffers.PLAIN_BYTES);
                plain.put(0, source, source.position(), bytes);
                source.position(source.position() + bytes);
                wrap(plain.limit(bytes), scratch.record(), records);
                encrypted += bytes;
                out.filledTo(records.position());
            } while (source.hasRemaining() && out.tail() < TlsBuffers.BATCH_BYTES);
        } catch (IllegalStateException e) {
            if (encrypted == 0) {
                throw e;
            }
        } finally {
            buffers.scratches().give(scratch);
            out.giveBackIfEmpty();
        }
        return encrypted;
    }

    /** Appends records with all that is left of {@code plain}, and with what the engine has to say itself. */
    private void wrap(ByteBuffer plain, ByteBuffer record, ByteBuffer records) throws SSLException {
        ruined = true; // unless it comes to its end
        do {
            SSLEngineResult result = engine.wrap(plain, buffers.direct() ? records : record.clear());
            TlsWire.runTasks(engine, result);
            if (!buffers.direct()) {
                records.put(record.flip());
            }
            if (result.bytesConsumed() == 0 && result.bytesProduced() == 0 && plain.hasRemaining()) {
                throw new SSLException("TLS does not encrypt any more: " + result);
            }
        } while (plain.hasRemaining());
        ruined = false;
    }

    boolean hasUnsent() {
        return !out.isEmpty();
    }

    /** Says goodbye, unless a record is cut: then there is no place for it. */
    void end() throws IOException {
        if (ending) {
            return;
        }
        ending = true;
        if (flush()) {
            engine.closeOutbound();
            ByteBuffer records = out.room();
            Scratch scratch = buffers.scratches().take();
            wrap(NOTHING.duplicate(), scratch.record(), records);
            buffers.scratches().give(scratch);
            out.filledTo(records.position());
            flush();
        }
    }
}
