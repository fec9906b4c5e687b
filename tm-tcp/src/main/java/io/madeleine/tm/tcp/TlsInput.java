package io.madeleine.tm.tcp;

import io.madeleine.tm.tcp.StreamBuffers.StreamBuffer;
import io.madeleine.tm.tcp.TlsBuffers.Scratch;
import io.netty.util.ReferenceCounted;
import java.io.IOException;
import java.nio.ByteBuffer;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLEngineResult;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/**
 * The receiving half of a {@link TlsWire}: makes bytes of records, which come several with one read.
 *
 * <p>Threading: one thread at a time; {@link #hasArrived} is a hint for others.
 */
final class TlsInput {
    private static final int HEAD_BYTES = 5;

    private final Wire socket;
    private final SSLEngine engine;
    private final TlsBuffers buffers;

    /** Records that have been read and not decrypted; null while there are none. */
    private @Nullable StreamBuffer in;

    private int head;
    private int tail;

    /** Decrypted and not taken. */
    private @Nullable Scratch opened;

    private boolean ended;

    /** Whether there is something of which the socket does not tell; others look at it. */
    private volatile boolean arrived;

    /** Begins with {@code leftover}, what has been read of the socket and not decrypted. */
    TlsInput(Wire socket, SSLEngine engine, TlsBuffers buffers, byte[] leftover) {
        this.socket = socket;
        this.engine = engine;
        this.buffers = buffers;
        if (leftover.length > 0) {
            incoming().bytes().clear().put(leftover);
            tail = leftover.length;
            arrived = true;
        }
    }

    /** Whether a read would bring something, whatever the socket says. */
    boolean hasArrived() {
        return arrived;
    }

    /** As {@link Wire#read} says. */
    int read(ByteBuffer target) throws IOException {
        try {
            return readRecords(target);
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
        if (!target.hasRemaining() || ended) {
            return read > 0 || !ended ? read : -1;
        }
        StreamBuffer used = incoming();
        if (head > 0) { // part of a record
            used.bytes().limit(tail).position(head).compact();
            tail -= head;
            head = 0;
        }
        int came = socket.read(used.bytes().clear().position(tail).limit(tail + TlsBuffers.BATCH_BYTES));
        if (came > 0) {
            tail += came;
            read += decrypt(target, read);
        }
        giveBackIfEmpty();
        ended |= came < 0;
        return read > 0 || !ended ? read : -1;
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

    /** Decrypts the whole records that have come, until the target is full. */
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
                    break;
                }
            } else {
                buffers.scratches().give(scratch);
            }
        }
        giveBackIfEmpty();
        return total;
    }

    /** The size of the record in front, or 0 if it has not all come. */
    private int recordBytes() throws SSLException {
        StreamBuffer used = in;
        if (used == null || tail - head < HEAD_BYTES) {
            return 0;
        }
        int bytes = HEAD_BYTES + Short.toUnsignedInt(used.bytes().getShort(head + HEAD_BYTES - Short.BYTES));
        if (bytes > TlsBuffers.RECORD_BYTES) {
            throw new SSLException("a record of " + bytes + " bytes, at most " + TlsBuffers.RECORD_BYTES + " expected");
        }
        return tail - head < bytes ? 0 : bytes;
    }

    private void open(Scratch scratch, int recordBytes) throws SSLException {
        ByteBuffer record;
        if (buffers.direct()) {
            record = incoming().bytes().limit(head + recordBytes).position(head);
        } else {
            record = scratch.record().clear().limit(recordBytes);
            record.put(0, incoming().bytes(), head, recordBytes);
        }
        head += recordBytes;
        ByteBuffer plain = scratch.plain().clear();
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
        plain.flip();
        incoming().bytes().clear();
    }

    /** Netty's engines tell of a failure once their alert has been taken; nothing else makes them ask for that by now. */
    private boolean isFailureKeptBack(SSLEngineResult result) {
        return engine instanceof ReferenceCounted
                && result.getHandshakeStatus() == SSLEngineResult.HandshakeStatus.NEED_WRAP;
    }

    private boolean hasRecord() {
        try {
            return recordBytes() > 0;
        } catch (SSLException _) {
            return true; // reading tells
        }
    }

    private StreamBuffer incoming() {
        StreamBuffer used = in;
        if (used == null) {
            used = buffers.records().take();
            in = used;
        }
        return used;
    }

    private void giveBackIfEmpty() {
        StreamBuffer used = in;
        if (used != null && head == tail) {
            head = 0;
            tail = 0;
            in = null;
            buffers.records().give(used);
        }
    }
}
