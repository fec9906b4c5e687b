package io.madeleine.tm.tcp.stream;

import io.madeleine.pmm.spi.BufferGroup;
import io.madeleine.pmm.spi.LinkStatus;
import io.madeleine.tm.tcp.config.TcpConfig;
import io.madeleine.tm.tcp.io.ByteQueue;
import io.madeleine.tm.tcp.io.SlowCopy;
import io.madeleine.tm.tcp.io.StreamBuffers;
import io.madeleine.tm.tcp.io.Wire;
import java.io.IOException;

/**
 * The sending half of a stream. The header, small blocks and blocks of heap memory are gathered in a staging buffer
 * and leave with one write; large native blocks are written in place. The JDK's gathering write would save a system
 * call, but it allocates for each buffer over a segment. No packet is queued (Nemesis, section 3.4): a packet is
 * complete when the kernel has accepted all of it. The exception is a packet of a dense stream that need not go in
 * place: it is complete when it is in the staging buffer.
 *
 * <p>Threading: guarded by the lock of {@link StreamOutput}. Ownership: blocks in place are lent for the time of a
 * call.
 */
final class StreamSender {
    /**
     * The payload of one TCP segment on the loopback, over IPv4 and over IPv6: 65,535 or 65,536 bytes less headers and
     * timestamp. Each additional segment costs the kernel about as much as 32 KiB of payload. Therefore a dense stream
     * is written in whole segments, and the remainder waits for the next packet. Otherwise each 64 KiB block with
     * header and end mark would need a second, nearly empty segment.
     */
    static final int SEGMENT_BYTES = 65_464;

    /** The most that one call moves to the front of the buffer; this much stays in the cache. */
    private static final int MOVED_BYTES = 16 * 1024;

    /** The part of an in-place block that is copied behind the header before it. */
    private static final int LEAD_BYTES = 8 * 1024;

    private final Wire wire;
    private final int inPlaceFromBytes;
    private final int stagingBytes;
    private final int segmentBytes;
    private final SegmentViews views = new SegmentViews();

    /** Bytes that are staged and not yet written. */
    private final ByteQueue staged;

    private boolean underWay;
    private boolean trailerTaken;

    /** Whether part of the packet went in place; such a packet is never held back. */
    private boolean inPlace;

    private boolean written;
    private long packetBytes;

    StreamSender(Wire wire, TcpConfig.StreamConfig config, StreamBuffers buffers) {
        this.wire = wire;
        this.staged = new ByteQueue(buffers);
        this.inPlaceFromBytes = wire.reachesUserMemory() ? config.inPlaceFromBytes() : Integer.MAX_VALUE;
        this.stagingBytes = config.bufferBytes() - Long.BYTES; // always leaves room for a trailer
        this.segmentBytes = Math.min(SEGMENT_BYTES, stagingBytes / 2);
    }

    /**
     * Sends one packet; see {@link io.madeleine.pmm.spi.DynamicLink#send}.
     *
     * @param mayKeep whether the packet, or its end, may stay in the staging buffer until the next call or {@link
     *     #flush()}
     */
    int send(long header, BufferGroup group, long trailer, boolean mayKeep) throws IOException {
        written = false;
        try {
            return sendNow(header, group, trailer, mayKeep);
        } catch (OutOfMemoryError _) {
            // the bytes moved so far are accounted for and the packet is still under way: the caller repeats the call
            return LinkStatus.PENDING;
        }
    }

    private int sendNow(long header, BufferGroup group, long trailer, boolean mayKeep) throws IOException {
        if (!underWay) {
            packetBytes = Long.BYTES + group.remainingBytes();
            staged.addLong(header);
            underWay = true;
            inPlace = false;
            trailerTaken = false;
        }
        while (true) {
            stageBlocks(group);
            if (group.isEmpty() && !trailerTaken) { // up to here the caller may exchange the trailer
                if (trailer != 0) {
                    staged.addLong(trailer);
                }
                trailerTaken = true;
            }
            if (mayKeep && !inPlace && group.isEmpty()) {
                if (!writeSegments()) {
                    return LinkStatus.PENDING;
                }
                underWay = false;
                return LinkStatus.COMPLETE;
            }
            boolean all = staged.bytes() > 0 ? writeStaged() : group.isEmpty() || writeInPlace(group);
            if (staged.bytes() == 0 && group.isEmpty() && trailerTaken) {
                if (!wire.flush()) {
                    return LinkStatus.PENDING;
                }
                underWay = false;
                return LinkStatus.COMPLETE;
            }
            if (!all) {
                return LinkStatus.PENDING;
            }
        }
    }

    /** Whether a packet has begun and not ended. */
    boolean isUnderWay() {
        return underWay;
    }

    /** Whether the last {@link #send} wrote to the wire, beginning with the bytes staged before. */
    boolean hasWritten() {
        return written;
    }

    /** Whether staged bytes wait for the next {@link #flush()} or packet. */
    boolean hasStaged() {
        return staged.bytes() > 0;
    }

    /** Stages an end-of-stream word behind the last packet; the caller then calls {@link #flush}. */
    void stageLast(long word) {
        staged.addLong(word);
    }

    /** Writes the staged bytes; returns whether none is left. */
    boolean flush() throws IOException {
        return writeStaged() && wire.flush();
    }

    /** Copies blocks until one goes in place or the buffer is full. */
    private void stageBlocks(BufferGroup group) {
        while (!group.isEmpty() && staged.tail() < stagingBytes) {
            long together = Math.max(group.bytes(0), group.bytesInShortRanges(inPlaceFromBytes));
            long bytes = Math.min(together, stagingBytes - staged.tail());
            if (goesInPlace(group)) {
                if (staged.bytes() == 0 || staged.bytes() >= LEAD_BYTES) {
                    return;
                }
                bytes = Math.min(bytes, LEAD_BYTES); // so that the header does not leave alone
            }
            long before = group.remainingBytes();
            try {
                group.drainTo(staged.memory(), staged.tail(), bytes);
            } finally {
                // also when the block's memory has been freed and the copy throws
                staged.filledTo(staged.tail() + (int) (before - group.remainingBytes()));
            }
        }
    }

    private boolean goesInPlace(BufferGroup group) {
        return group.bytes(0) >= inPlaceFromBytes && group.segment(0).isNative() && !isCopiedSlowly(group);
    }

    private boolean isCopiedSlowly(BufferGroup group) {
        return wire.isCopiedByKernel()
                && SlowCopy.toBehind(
                        group.segment(0).address() + group.offset(0), packetBytes - group.remainingBytes());
    }

    /** Writes the whole segments that are staged; returns whether the wire has accepted them. */
    private boolean writeSegments() throws IOException {
        int bytes = staged.bytes() - staged.bytes() % segmentBytes;
        if (bytes == 0) {
            return true;
        }
        int taken = write(bytes);
        if (staged.bytes() <= MOVED_BYTES || staged.tail() > stagingBytes / 2) {
            staged.compact(); // makes room for the next header
        }
        return taken == bytes && wire.flush();
    }

    private boolean writeStaged() throws IOException {
        if (staged.isEmpty()) {
            return true;
        }
        write(staged.bytes());
        return staged.isEmpty();
    }

    private int write(int bytes) throws IOException {
        written = true;
        int taken = wire.write(staged.front(bytes));
        staged.taken(taken);
        return taken;
    }

    /** Writes the front block in place; returns whether the wire accepted all of it. */
    private boolean writeInPlace(BufferGroup group) throws IOException {
        inPlace = true;
        long bytes = group.bytes(0);
        long written = wire.write(views.view(group.segment(0), group.offset(0), bytes));
        group.advance(written);
        return written == bytes;
    }
}
