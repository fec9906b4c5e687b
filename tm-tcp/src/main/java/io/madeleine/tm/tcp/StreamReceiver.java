package io.madeleine.tm.tcp;

import io.madeleine.pmm.spi.BufferGroup;
import io.madeleine.pmm.spi.PacketHeader;
import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * The receiving half of a stream. One read brings a header and the small payload behind it into a buffer (Nemesis,
 * section 3.5); of a large payload, the rest is read into user memory where that is native.
 *
 * <p>Threading: confined to whoever holds the receive lock.
 */
final class StreamReceiver {
    /** Stands where a header could, after the last packet; as a header it would be invalid. */
    static final long FAREWELL = 0x4D41_444C_2042_5945L; // "MADL BYE"

    /** Stands there instead if the sender has given its peer up. */
    static final long GIVEN_UP = 0x4D41_444C_2047_5550L; // "MADL GUP"

    /** The end of a large payload is not read in place, so that what is behind it comes in the same read. */
    private static final int END_BYTES = 128;

    /** After so many reads in one call, others get their turn. */
    private static final int MAX_READS = 16;

    /** Switched off to measure what it is worth (Nemesis, section 3.5): then a header is read by itself. */
    private static final boolean ONE_READ =
            !System.getProperty("io.madeleine.tm.tcp.one-read", "true").equals("false");

    private final Wire wire;
    private final int inPlaceFromBytes;
    private final SegmentViews views = new SegmentViews();

    /** What has been read and not been taken. */
    private final LentBuffer in;

    private long front;
    private long leftBytes;
    private boolean ended;
    private boolean farewell;
    private boolean givenUp;
    private volatile boolean cut;
    private int packets;

    StreamReceiver(Wire wire, TcpConfig.StreamConfig config, StreamBuffers buffers) {
        this.wire = wire;
        this.in = new LentBuffer(buffers);
        this.inPlaceFromBytes = wire.reachesUserMemory() ? config.inPlaceFromBytes() : Integer.MAX_VALUE;
    }

    /** Takes bytes that came together with the end of the handshake, maybe more than a buffer holds; before any read. */
    void prepend(ByteBuffer bytes) {
        in.begin(bytes);
    }

    /** The header in front, or 0. Nothing is read while a packet is in front. */
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
            throw new BrokenStreamException("it sent 0x" + Long.toHexString(header)
                    + " where the header of a packet has to be, which does not belong to the protocol");
        }
    }

    /** Moves payload into the group; at most {@code maxBytes}. */
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
            long moved = before - group.remainingBytes(); // also if memory turns out to be freed
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

    /** Reads into the group's block in front; returns how many bytes. The buffer is empty. */
    private long readInPlace(BufferGroup group, long maxBytes) throws IOException {
        if (ended || cut) {
            ended = true;
            return 0;
        }
        long bytes = Math.min(group.bytes(0), maxBytes);
        if (bytes == leftBytes) {
            bytes -= END_BYTES; // which come with the next header
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

    /** How many packets have come, modulo 2^32; a hint in other threads. */
    int packets() {
        return packets;
    }

    /** Drops payload; at most {@code maxBytes}. */
    long skip(long maxBytes) throws IOException {
        long wanted = Math.min(maxBytes, leftBytes);
        long dropped = dropBuffered(wanted);
        try {
            for (int reads = 0; dropped < wanted && reads < MAX_READS && fill(); reads++) {
                dropped += dropBuffered(wanted - dropped);
            }
        } catch (OutOfMemoryError _) {
            // the caller has to know what has been dropped, and comes again
        }
        return dropped;
    }

    private int dropBuffered(long maxBytes) {
        int bytes = (int) Math.min(maxBytes, in.bytes());
        in.taken(bytes);
        leftBytes -= bytes;
        return bytes;
    }

    /** Lets go of the packet in front; returns whether another header has been read already. */
    boolean release() {
        if (leftBytes != 0) {
            throw new IllegalStateException(leftBytes + " bytes of " + PacketHeader.describe(front)
                    + " have neither been received nor skipped");
        }
        front = 0;
        return hasHeader();
    }

    /** Whether the next {@link #front()} finds a header without reading. */
    boolean hasHeader() {
        return front == 0 && in.bytes() >= Long.BYTES;
    }

    /** Reads once into the free part of the buffer; returns whether anything came. */
    private boolean fill() throws IOException {
        if (ended || cut) {
            ended = true;
            return false;
        }
        in.compact(); // less than a header
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

    /** Nothing will be read any more; packets already in the buffer stay. */
    void end() {
        ended = true;
    }

    /** The same from any thread. */
    void cut() {
        cut = true;
    }

    /** Drops what is left, too. */
    void drop() {
        ended = true;
        front = 0;
        leftBytes = 0;
        in.taken(in.bytes());
    }

    /** Whether nothing more will come up: the stream has ended and what was read has been taken. */
    boolean isExhausted() {
        return ended && front == 0 && in.bytes() < Long.BYTES;
    }

    boolean hasEnded() {
        return ended;
    }

    /** Whether the peer ended the stream of its own will. */
    boolean hasFarewell() {
        return farewell;
    }

    /** Whether the peer said last that it has given this process up. */
    boolean isGivenUp() {
        return givenUp;
    }

    /** How many bytes of the packet in front have not been taken. */
    long leftBytes() {
        return leftBytes;
    }
}
