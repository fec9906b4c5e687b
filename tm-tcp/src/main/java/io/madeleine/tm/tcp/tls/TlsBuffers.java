package io.madeleine.tm.tcp.tls;

import io.madeleine.tm.tcp.io.Pool;
import io.madeleine.tm.tcp.io.StreamBuffers;
import java.nio.ByteBuffer;

/**
 * The buffers of the TLS connections of an adapter. A connection takes one only while it works on records.
 *
 * <p>Threading: thread-safe.
 */
public final class TlsBuffers {
    /**
     * The largest record: 2^14 bytes, 256 more, and the record header (RFC 8446, section 5.2); the JDK asks for a
     * little more room.
     */
    static final int RECORD_BYTES = 16_384 + 512;

    /** The plaintext bytes of a full record. */
    static final int PLAIN_BYTES = 16_384;

    /**
     * The bytes that are encrypted before a write, and read before they are decrypted. Both ends then work at the same
     * time, on bytes that are still in their caches. Half and twice this size were slower.
     */
    static final int BATCH_BYTES = 64 * 1024;

    /** A batch, plus the incomplete record before it or the record that exceeds it. */
    private static final int BUFFER_BYTES = 2 * BATCH_BYTES;

    private final StreamBuffers records = new StreamBuffers(BUFFER_BYTES);
    private final boolean direct;
    private final Pool<Scratch> scratches;

    /** {@code direct} chooses direct scratch buffers instead of arrays. */
    public TlsBuffers(boolean direct) {
        this.direct = direct;
        this.scratches = new Pool<>(direct ? Scratch::direct : Scratch::create);
    }

    /** Whether the engine reads and writes direct buffers in place. */
    boolean direct() {
        return direct;
    }

    /**
     * Room for one record. Ownership: belongs to the thread that took it until it gives it back.
     *
     * @param record the encrypted record; empty if the engine works on direct buffers
     * @param plain its plaintext; as large as the JDK estimates
     */
    record Scratch(ByteBuffer record, ByteBuffer plain) {
        private static Scratch create() {
            return new Scratch(ByteBuffer.allocate(RECORD_BYTES), ByteBuffer.allocate(RECORD_BYTES));
        }

        /** The engine reads and writes records in the I/O buffers; only the plaintext passes through here. */
        private static Scratch direct() {
            return new Scratch(ByteBuffer.allocateDirect(0), ByteBuffer.allocateDirect(RECORD_BYTES));
        }
    }

    /** The I/O buffers, between records and kernel. */
    StreamBuffers records() {
        return records;
    }

    /** The scratch buffers, between records and blocks. */
    Pool<Scratch> scratches() {
        return scratches;
    }
}
