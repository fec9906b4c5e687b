package io.madeleine.tm.tcp.stream;

import io.madeleine.pmm.spi.BufferGroup;
import io.madeleine.pmm.spi.PacketHeader;
import io.madeleine.tm.tcp.config.TcpConfig;
import io.madeleine.tm.tcp.io.ByteQueue;
import io.madeleine.tm.tcp.io.SlowCopy;
import io.madeleine.tm.tcp.io.StreamBuffers;
import io.madeleine.tm.tcp.io.Wire;
import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * The receiving half of a stream. One read brings a header and the small payload behind it into a buffer (Nemesis,
 * section 3.5). The rest of a large payload is read directly into native user memory.
 *
 * <p>Threading: confined to the thread that holds the receive lock, except {@link #cut} and {@link #packets}.
 */
final class StreamReceiver {
    /** The orderly end of the stream. Stands in place of a header behind the last packet; it is not a valid header. */
    static final long FAREWELL = 0x4D41_444C_2042_5945L; // "MADL BYE"

    /** The end of the stream when the sender has given its peer up; stands in place of a header, too. */
    static final long GIVEN_UP = 0x4D41_444C_2047_5550L; // "MADL GUP"

    /** The end of a large payload that is not read in place, so that the same read brings the bytes behind it. */
    private static final int END_BYTES = 128;

    /** The most reads in one call, so that other connections get their turn. */
    private static final int MAX_READS = 16;

    /** False only to measure its worth (Nemesis, section 3.5): then a read brings either a header or payload. */
    private static final boolean ONE_READ =
            !System.getProperty("io.madeleine.tm.tcp.one-read", "true").equals("false");

    private final Wire wire;
    private final int inPlaceFromBytes;
    private final SegmentViews views = new SegmentViews();

    /** Bytes that have been read and not taken. */
    private final ByteQueue in;

    private long front;
    private long leftBytes;
    private boolean ended;
    private boolean farewell;
    private boolean givenUp;
    private volatile boolean cut;
    private int packets;

    StreamReceiver(Wire wire, TcpConfig.StreamConfig config, StreamBuffers buffers) {
        this.wire = wire;
        this.in = new ByteQueue(buffers);
        this.inPlaceFromBytes = wire.reachesUserMemory() ? config.inPlaceFromBytes() : Integer.MAX_VALUE;
    }

    /**
     * Adds bytes that arrived with the end of the handshake, possibly more than a buffer holds. Before any read.
     * Ownership: the bytes are copied.
     */
    void prepend(ByteBuffer bytes) {
        in.begin(bytes);
    }

    /** Returns the header of the front packet, or 0. Does not read while there is a front packet. */
    long front() throws IOException, BrokenStreamException {
        if (front == 0 && (in.bytes() >= Long.BYTES || (fill() && in.bytes() >= Long.BYTES))) {
            parse();
        }
        return front;
    }

    private void parse() throws BrokenStreamException {
        long header = in.takeLong();
        if (header == FAREWELL || header == GIVEN_UP) {
            drop();
            farewell = header == FAREWELL;
            givenUp = header == GIVEN_UP;
        } else if (PacketHeader.isValid(header)) {
            front = header;
            packets++;
            leftBytes = PacketHeader.payloadBytes(header);
        } else {
            drop();
            throw new BrokenStreamException(
                    "it sent 0x" + Long.toHexString(header) + " where a packet header was expected");
        }
    }

    /**
     * Moves at most {@code maxBytes} of payload into the group; returns how many bytes it moved. Ownership: the
     * group's memory is lent for the time of the call.
     */
    long receive(BufferGroup group, long maxBytes) throws IOException {
        long wanted = Math.min(Math.min(maxBytes, leftBytes), group.remainingBytes());
        long moved = takeBuffered(group, wanted);
        for (int reads = 0; moved < wanted && reads < MAX_READS; reads++) {
            long before = moved;
            if (goesInPlace(group, wanted - moved)) {
                moved += readInPlace(group, wanted - moved);
            } else {
                fill();
            }
            moved += takeBuffered(group, wanted - moved);
            if (moved == before) {
                break;
            }
        }
        return moved;
    }

    private long takeBuffered(BufferGroup group, long maxBytes) {
        if (in.isEmpty()) {
            return 0;
        }
        long before = group.remainingBytes();
        try {
            group.fillFrom(in.memory(), in.head(), Math.min(maxBytes, in.bytes()));
        } finally {
            long moved = before - group.remainingBytes(); // also when the memory has been freed and the copy throws
            in.taken((int) moved);
            leftBytes -= moved;
        }
        return before - group.remainingBytes();
    }

    private boolean goesInPlace(BufferGroup group, long maxBytes) {
        return Math.min(group.bytes(0), maxBytes) >= inPlaceFromBytes
                && group.segment(0).isNative()
                && !isCopiedSlowly(group);
    }

    private boolean isCopiedSlowly(BufferGroup group) {
        return wire.isCopiedByKernel()
                && SlowCopy.toBehind(
                        Long.BYTES + PacketHeader.payloadBytes(front) - leftBytes,
                        group.segment(0).address() + group.offset(0));
    }

    /** Reads into the front block of the group; returns the number of bytes. The buffer is empty. */
    private long readInPlace(BufferGroup group, long maxBytes) throws IOException {
        if (ended || cut) {
            ended = true;
            return 0;
        }
        long bytes = Math.min(group.bytes(0), maxBytes);
        if (bytes == leftBytes) {
            bytes -= END_BYTES; // they come with the next header
        }
        int read = wire.read(views.view(group.segment(0), group.offset(0), bytes));
        if (read < 0) {
            end();
            return 0;
        }
        group.advance(read);
        leftBytes -= read;
        return read;
    }

    /** The number of packets received, modulo 2^32; for other threads a hint. */
    int packets() {
        return packets;
    }

    /** Drops at most {@code maxBytes} of payload; returns how many bytes it dropped. */
    long skip(long maxBytes) throws IOException {
        long wanted = Math.min(maxBytes, leftBytes);
        long dropped = dropBuffered(wanted);
        try {
            for (int reads = 0; dropped < wanted && reads < MAX_READS && fill(); reads++) {
                dropped += dropBuffered(wanted - dropped);
            }
        } catch (OutOfMemoryError _) {
            // the caller must learn how much was dropped, and calls again
        }
        return dropped;
    }

    private int dropBuffered(long maxBytes) {
        int bytes = (int) Math.min(maxBytes, in.bytes());
        in.taken(bytes);
        leftBytes -= bytes;
        return bytes;
    }

    /** Releases the front packet; returns whether the next header is already in the buffer. */
    boolean release() {
        if (leftBytes != 0) {
            throw new IllegalStateException("released " + PacketHeader.describe(front) + " with " + leftBytes
                    + " bytes neither received nor skipped");
        }
        front = 0;
        return hasHeader();
    }

    /** Whether the next {@link #front()} finds a header without a read. */
    boolean hasHeader() {
        return front == 0 && in.bytes() >= Long.BYTES;
    }

    /** Reads once into the free part of the buffer; returns whether any byte arrived. */
    private boolean fill() throws IOException {
        if (ended || cut) {
            ended = true;
            return false;
        }
        in.compact(); // moves less than a header
        ByteBuffer target = in.room();
        if (!ONE_READ) {
            long wanted = front == 0 ? Long.BYTES : leftBytes;
            target.limit(Math.clamp(wanted, target.position() + 1, target.capacity()));
        }
        int read = wire.read(target);
        if (read < 0) {
            end();
        } else {
            in.filledTo(target.position());
        }
        in.giveBackIfEmpty();
        return read > 0;
    }

    /** Ends reading; packets already in the buffer stay. */
    void end() {
        ended = true;
    }

    /** As {@link #end()}, from any thread. */
    void cut() {
        cut = true;
    }

    /** Ends reading and drops the buffered bytes. */
    void drop() {
        ended = true;
        front = 0;
        leftBytes = 0;
        in.taken(in.bytes());
    }

    /** Whether the stream has ended and every buffered packet has been taken. */
    boolean isExhausted() {
        return ended && front == 0 && in.bytes() < Long.BYTES;
    }

    boolean hasEnded() {
        return ended;
    }

    /** Whether the peer ended the stream in an orderly way. */
    boolean hasFarewell() {
        return farewell;
    }

    /** Whether the peer ended the stream because it has given this process up. */
    boolean isGivenUp() {
        return givenUp;
    }

    /** The payload bytes of the front packet that have not been taken. */
    long leftBytes() {
        return leftBytes;
    }
}
