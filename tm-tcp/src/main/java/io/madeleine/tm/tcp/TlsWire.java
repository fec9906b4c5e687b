package io.madeleine.tm.tcp;

import io.madeleine.pmm.spi.Reactor;
import io.madeleine.tm.tcp.StreamBuffers.StreamBuffer;
import io.madeleine.tm.tcp.TlsBuffers.Scratch;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.ReferenceCounted;
import java.io.IOException;
import java.nio.ByteBuffer;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLEngineResult;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/**
 * A socket whose bytes are TLS records: the engine has left Netty's pipeline with the handshake, so that a message is
 * encrypted and written, or read and decrypted, by the thread that sends or waits.
 *
 * <p>The JDK encrypts between arrays three times as fast as between buffers outside the heap; each record passes through a
 * pair of arrays ({@link TlsBuffers.Scratch}) that stay in the processor's cache. Other implementations take the records where
 * they are, and only what is in them is copied: they do not keep memory segments alive. Records leave several at a time, with one write; a
 * packet is complete when the kernel has taken the last ({@link #flush}).
 *
 * <p>Threading: one thread writes, one reads, as {@link Wire} says. A key update that the peer asks for goes with the next
 * bytes that are written (RFC 8446, section 4.6.3, asks for no more).
 */
final class TlsWire implements Wire {
    /** How much is encrypted before it is written: the peer decrypts while this side encrypts the next. */
    private static final int BATCH_BYTES = 128 * 1024;

    private static final int HEAD_BYTES = 5;
    private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

    private final Wire socket;
    private final SSLEngine engine;
    private final TlsBuffers buffers;

    // the writer's
    private @Nullable StreamBuffer out;
    private int outHead;
    private int outTail;

    private boolean closing;
    private boolean released;

    // the reader's
    private @Nullable StreamBuffer in;
    private int inHead;
    private int inTail;

    /** Decrypted and not taken. */
    private @Nullable Scratch opened;

    private boolean ended;

    /** Whether there is something of which the socket does not tell; others look at it. */
    private volatile boolean arrived;

    /** Takes over after the handshake; {@code leftover} is what has been read of the socket and not decrypted. */
    TlsWire(Wire socket, SSLEngine engine, TlsBuffers buffers, byte[] leftover) {
        this.socket = socket;
        this.engine = engine;
        this.buffers = buffers;
        if (leftover.length > 0) {
            incoming().bytes().clear().put(leftover);
            inTail = leftover.length;
            arrived = true;
        }
    }

    /** It does, a record at a time: memory that is freed meanwhile is noticed before the engine sees it. */
    @Override
    public boolean reachesUserMemory() {
        return true;
    }

    @Override
    public int write(ByteBuffer source) throws IOException {
        int written = 0;
        while (source.hasRemaining() && flush()) {
            try {
                written += encrypt(source);
            } catch (IllegalStateException e) { // the memory has been freed
                if (written == 0) {
                    throw e;
                }
                break;
            }
        }
        flush();
        return written;
    }

    @Override
    public boolean flush() throws IOException {
        StreamBuffer used = out;
        if (used == null) {
            return true;
        }
        outHead += socket.write(used.bytes().limit(outTail).position(outHead));
        if (outHead < outTail) {
            return false;
        }
        outHead = 0;
        outTail = 0;
        out = null;
        buffers.records().give(used);
        return true;
    }

    /** Makes records of what there is, as many as leave at a time; returns how many bytes are in them. */
    private int encrypt(ByteBuffer source) throws SSLException {
        StreamBuffer used = buffers.records().take();
        out = used;
        ByteBuffer records = used.bytes().clear();
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
                outTail = records.position();
            } while (source.hasRemaining() && outTail < BATCH_BYTES);
        } catch (IllegalStateException e) {
            if (encrypted == 0) {
                throw e;
            }
        } finally {
            buffers.scratches().give(scratch);
            if (outTail == 0) {
                out = null;
                buffers.records().give(used);
            }
        }
        return encrypted;
    }

    /** Appends records with all that is left of {@code plain}, and with what the engine has to say itself. */
    private void wrap(ByteBuffer plain, ByteBuffer record, ByteBuffer records) throws SSLException {
        do {
            SSLEngineResult result = engine.wrap(plain, buffers.direct() ? records : record.clear());
            runTasks(result);
            if (!buffers.direct()) {
                records.put(record.flip());
            }
            if (result.bytesConsumed() == 0 && result.bytesProduced() == 0 && plain.hasRemaining()) {
                throw new SSLException("TLS does not encrypt any more: " + result);
            }
        } while (plain.hasRemaining());
    }

    private void runTasks(SSLEngineResult result) {
        if (result.getHandshakeStatus() == SSLEngineResult.HandshakeStatus.NEED_TASK) {
            for (Runnable task; (task = engine.getDelegatedTask()) != null; ) {
                task.run();
            }
        }
    }

    @Override
    public int read(ByteBuffer target) throws IOException {
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
        if (inHead > 0) { // part of a record
            used.bytes().limit(inTail).position(inHead).compact();
            inTail -= inHead;
            inHead = 0;
        }
        int came = socket.read(used.bytes().clear().position(inTail));
        if (came > 0) {
            inTail += came;
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
        if (used == null || inTail - inHead < HEAD_BYTES) {
            return 0;
        }
        int bytes = HEAD_BYTES + Short.toUnsignedInt(used.bytes().getShort(inHead + HEAD_BYTES - Short.BYTES));
        if (bytes > TlsBuffers.RECORD_BYTES) {
            throw new SSLException("a record of " + bytes + " bytes, at most " + TlsBuffers.RECORD_BYTES + " expected");
        }
        return inTail - inHead < bytes ? 0 : bytes;
    }

    private void open(Scratch scratch, int recordBytes) throws SSLException {
        ByteBuffer record;
        if (buffers.direct()) {
            record = incoming().bytes().limit(inHead + recordBytes).position(inHead);
        } else {
            record = scratch.record().clear().limit(recordBytes);
            record.put(0, incoming().bytes(), inHead, recordBytes);
        }
        inHead += recordBytes;
        ByteBuffer plain = scratch.plain().clear();
        while (record.hasRemaining()) {
            SSLEngineResult result = engine.unwrap(record, plain);
            runTasks(result);
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
        if (used != null && inHead == inTail) {
            inHead = 0;
            inTail = 0;
            in = null;
            buffers.records().give(used);
        }
    }

    @Override
    public void register(Reactor.ReadyHandler handler) throws IOException {
        socket.register(handler);
    }

    @Override
    public void interest(int operations) {
        socket.interest(operations);
    }

    @Override
    public boolean hasArrived() {
        return arrived || socket.hasArrived();
    }

    private boolean hasRecord() {
        try {
            return recordBytes() > 0;
        } catch (SSLException _) {
            return true; // reading tells
        }
    }

    @Override
    public boolean hasRoom() {
        return socket.hasRoom();
    }

    @Override
    public boolean hasUnsent() {
        return out != null || socket.hasUnsent();
    }

    @Override
    public void shutdownOutput() throws IOException {
        if (!closing) {
            closing = true;
            if (flush()) { // otherwise a record was cut, and there is no place for a goodbye
                engine.closeOutbound();
                StreamBuffer used = buffers.records().take();
                out = used;
                Scratch scratch = buffers.scratches().take();
                wrap(NOTHING.duplicate(), scratch.record(), used.bytes().clear());
                buffers.scratches().give(scratch);
                outTail = used.bytes().position();
                flush();
            }
        }
        socket.shutdownOutput();
    }

    @Override
    public void close() {
        socket.close();
        synchronized (this) {
            if (released) {
                return;
            }
            released = true;
        }
        ReferenceCountUtil.release(engine); // with what it has outside the heap; whoever still uses it is told
    }
}
