package io.madeleine.tm.tcp;

import java.nio.ByteBuffer;

/**
 * What the TLS connections of an adapter share; each has some of it only while records are in its hands.
 *
 * <p>Threading: thread-safe.
 */
final class TlsBuffers {
    /** The largest record: 2^14 bytes, 256 more, and its head (RFC 8446, section 5.2); the JDK wants a little more. */
    static final int RECORD_BYTES = 16_384 + 512;

    /** How much is put into one record. */
    static final int PLAIN_BYTES = 16_384;

    /**
     * How much is encrypted before it is written, and read before it is decrypted: each side works while the other does, on bytes
     * that are still in its cache. Half and twice as much carried a fifth less.
     */
    static final int BATCH_BYTES = 64 * 1024;

    /** A batch, and the record before it of which a part is left, or with which it is exceeded. */
    private static final int BUFFER_BYTES = 2 * BATCH_BYTES;

    private final StreamBuffers records = new StreamBuffers(BUFFER_BYTES);
    private final boolean direct;
    private final Pool<Scratch> scratches;

    /** With scratches outside the heap or in arrays. */
    TlsBuffers(boolean direct) {
        this.direct = direct;
        this.scratches = new Pool<>(direct ? Scratch::direct : Scratch::create);
    }

    /** Whether the engine reads and writes buffers outside the heap where they are. */
    boolean direct() {
        return direct;
    }

    /**
     * Room for one record.
     *
     * @param record as it is on the wire
     * @param plain what is in it; room for as much as the JDK estimates
     */
    record Scratch(ByteBuffer record, ByteBuffer plain) {
        private static Scratch create() {
            return new Scratch(ByteBuffer.allocate(RECORD_BYTES), ByteBuffer.allocate(RECORD_BYTES));
        }

        /** Records go from and to the buffers of the kernel's side: only what is in them passes through here. */
        private static Scratch direct() {
            return new Scratch(ByteBuffer.allocateDirect(0), ByteBuffer.allocateDirect(RECORD_BYTES));
        }
    }

    /** Buffers between records and kernel. */
    StreamBuffers records() {
        return records;
    }

    /** Buffers between records and blocks. */
    Pool<Scratch> scratches() {
        return scratches;
    }
}
