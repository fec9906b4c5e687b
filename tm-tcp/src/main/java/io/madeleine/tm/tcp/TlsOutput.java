package io.madeleine.tm.tcp;

import io.madeleine.tm.tcp.StreamBuffers.StreamBuffer;
import io.madeleine.tm.tcp.TlsBuffers.Scratch;
import java.io.IOException;
import java.nio.ByteBuffer;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLEngineResult;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

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

    /** Records that have not been written; null while there are none. */
    private @Nullable StreamBuffer out;

    private int head;
    private int tail;
    private boolean ending;

    TlsOutput(Wire socket, SSLEngine engine, TlsBuffers buffers) {
        this.socket = socket;
        this.engine = engine;
        this.buffers = buffers;
    }

    /** As {@link Wire#write} says; what does not fill a batch stays until {@link #flush}, together with what is written next. */
    int write(ByteBuffer source) throws IOException {
        int written = 0;
        while (source.hasRemaining() && (tail < TlsBuffers.BATCH_BYTES || flush())) {
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
        StreamBuffer used = out;
        if (used == null) {
            return true;
        }
        head += socket.write(used.bytes().limit(tail).position(head));
        boolean all = head == tail;
        giveBackIfEmpty();
        return all;
    }

    /** Makes records of what there is, as many as leave at a time; returns how many bytes are in them. */
    private int encrypt(ByteBuffer source) throws SSLException {
        ByteBuffer records = outgoing().bytes().clear().position(tail);
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
                tail = records.position();
            } while (source.hasRemaining() && tail < TlsBuffers.BATCH_BYTES);
        } catch (IllegalStateException e) {
            if (encrypted == 0) {
                throw e;
            }
        } finally {
            buffers.scratches().give(scratch);
            giveBackIfEmpty();
        }
        return encrypted;
    }

    private StreamBuffer outgoing() {
        StreamBuffer used = out;
        if (used == null) {
            used = buffers.records().take();
            out = used;
        }
        return used;
    }

    private void giveBackIfEmpty() {
        StreamBuffer used = out;
        if (used != null && head == tail) {
            head = 0;
            tail = 0;
            out = null;
            buffers.records().give(used);
        }
    }

    /** Appends records with all that is left of {@code plain}, and with what the engine has to say itself. */
    private void wrap(ByteBuffer plain, ByteBuffer record, ByteBuffer records) throws SSLException {
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
    }

    boolean hasUnsent() {
        return out != null;
    }

    /** Says goodbye, unless a record is cut: then there is no place for it. */
    void end() throws IOException {
        if (ending) {
            return;
        }
        ending = true;
        if (flush()) {
            engine.closeOutbound();
            StreamBuffer used = outgoing();
            Scratch scratch = buffers.scratches().take();
            wrap(NOTHING.duplicate(), scratch.record(), used.bytes().clear());
            buffers.scratches().give(scratch);
            tail = used.bytes().position();
            flush();
        }
    }
}
