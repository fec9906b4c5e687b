package io.madeleine.tm.tcp.tls;

import io.madeleine.pmm.ProgressEngine;
import io.madeleine.tm.tcp.io.ByteQueue;
import io.madeleine.tm.tcp.io.InterruptedRecordException;
import io.madeleine.tm.tcp.io.Wire;
import io.madeleine.tm.tcp.tls.TlsBuffers.Scratch;
import java.io.IOException;
import java.nio.ByteBuffer;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLEngineResult;
import javax.net.ssl.SSLException;

/**
 * The sending half of a {@link TlsWire}: encrypts bytes into records and writes several records at once. Bytes have
 * been sent when the kernel has accepted the last of their records ({@link #flush}).
 *
 * <p>Threading: one thread at a time; {@link #hasUnsent} is a hint for others.
 */
final class TlsOutput {
    private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

    private final Wire socket;
    private final SSLEngine engine;
    private final TlsBuffers buffers;

    /** Records that have not been written. */
    private final ByteQueue out;

    private boolean ending;

    /** Whether the engine has failed within a record, so that the peer could not decrypt the next ones. */
    private boolean ruined;

    TlsOutput(Wire socket, SSLEngine engine, TlsBuffers buffers) {
        this.socket = socket;
        this.engine = engine;
        this.buffers = buffers;
        this.out = new ByteQueue(buffers.records());
    }

    /**
     * See {@link Wire#write}. Records that do not fill a batch stay until {@link #flush} and leave with those written
     * next.
     */
    int write(ByteBuffer source) throws IOException {
        checkWhole();
        int written = 0;
        while (source.hasRemaining() && (out.tail() < TlsBuffers.BATCH_BYTES || flush())) {
            try {
                written += encrypt(source);
            } catch (IllegalStateException e) { // the user's memory has been freed
                if (written == 0) {
                    throw e;
                }
                ProgressEngine.afterFreedMemory();
                break;
            }
        }
        return written;
    }

    /** Writes the records; returns whether the kernel has accepted all. */
    boolean flush() throws IOException {
        checkWhole();
        if (!out.isEmpty()) {
            out.taken(socket.write(out.front(out.bytes())));
        }
        return out.isEmpty() && socket.flush();
    }

    private void checkWhole() throws InterruptedRecordException {
        if (ruined) {
            throw new InterruptedRecordException();
        }
    }

    /** Encrypts at most one batch; returns the number of plaintext bytes. */
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
            ProgressEngine.afterFreedMemory();
        } finally {
            buffers.scratches().give(scratch);
            out.giveBackIfEmpty();
        }
        return encrypted;
    }

    /** Appends records with all of {@code plain}, and with the messages of the engine itself. */
    private void wrap(ByteBuffer plain, ByteBuffer record, ByteBuffer records) throws SSLException {
        ruined = true; // until the record is complete
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

    /**
     * Sends the close_notify alert behind the last record.
     *
     * @return whether the kernel has accepted all of it; otherwise the caller calls again when there is room
     */
    boolean end() throws IOException {
        if (!ending && flush()) {
            ending = true;
            engine.closeOutbound();
            ByteBuffer records = out.room();
            Scratch scratch = buffers.scratches().take();
            wrap(NOTHING.duplicate(), scratch.record(), records);
            buffers.scratches().give(scratch);
            out.filledTo(records.position());
        }
        return ending && flush();
    }
}
