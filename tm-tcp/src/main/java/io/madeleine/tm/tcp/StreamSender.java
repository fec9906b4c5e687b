package io.madeleine.tm.tcp;

import io.madeleine.pmm.spi.BufferGroup;
import io.madeleine.pmm.spi.LinkStatus;
import java.io.IOException;

/**
 * The sending half of a stream. Header, small blocks and blocks of heap memory are gathered in a buffer and leave with
 * one write; large native blocks are written from where they are. The JDK's gathering write would save a call, but it
 * allocates for each buffer over a segment. Nothing is queued (Nemesis, section 3.4): a packet is complete when the kernel has
 * taken all of it, but for small ones of a dense stream, which are complete in the buffer.
 *
 * <p>Threading: guarded by the lock of {@link StreamOutput}. Ownership: blocks in place are lent for the time of a call.
 */
final class StreamSender {
    /**
     * What one segment carries on the loopback, by IPv4 and by IPv6: 65,535 bytes, or 65,536, less the headers and a time stamp. Each
     * segment costs the kernel about as much as 32 KiB more in it. So a dense stream is written in whole ones, and the rest waits
     * for what comes next; 64 KiB and an end mark at a time would leave with a second segment of some bytes each.
     */
    static final int SEGMENT_BYTES = 65_464;

    /** So little is moved to the front of the buffer at once, for that part to stay in the cache. */
    private static final int MOVED_BYTES = 16 * 1024;

    /** How much of a block in place is copied behind the header before it. */
    private static final int LEAD_BYTES = 8 * 1024;

    private final Wire wire;
    private final int inPlaceFromBytes;
    private final int stagingBytes;
    private final int segmentBytes;
    private final SegmentViews views = new SegmentViews();

    /** What is staged and not written. */
    private final LentBuffer staged;

    private boolean underWay;
    private boolean trailerTaken;

    /** Whether part of the packet has been written from where it was: then it is none of the small ones. */
    private boolean inPlace;

    private boolean written;
    private long packetBytes;

    StreamSender(Wire wire, TcpConfig.StreamConfig config, StreamBuffers buffers) {
        this.wire = wire;
        this.staged = new LentBuffer(buffers);
        this.inPlaceFromBytes = wire.reachesUserMemory() ? config.inPlaceFromBytes() : Integer.MAX_VALUE;
        this.stagingBytes = config.bufferBytes() - Long.BYTES; // there is always room for a trailer
        this.segmentBytes = Math.min(SEGMENT_BYTES, stagingBytes / 2);
    }

    /**
     * As {@link io.madeleine.pmm.spi.DynamicLink#send} says.
     *
     * @param mayKeep whether a packet, with others before it, or its end may stay in the buffer until the next {@link #flush()}
     */
    int send(long header, BufferGroup group, long trailer, boolean mayKeep) throws IOException {
        written = false;
        try {
            return sendNow(header, group, trailer, mayKeep);
        } catch (
                OutOfMemoryError
                        _) { // what has moved is accounted for, and the packet has not ended: its sender comes again
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
            if (group.isEmpty() && !trailerTaken) { // until now it could be exchanged
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

    /** Whether a packet has been begun and not ended. */
    boolean isUnderWay() {
        return underWay;
    }

    /** Whether the last call of {@link #send} has written anything: what stood in the buffer before, to begin with. */
    boolean hasWritten() {
        return written;
    }

    /** Whether something waits for the next {@link #flush()} or packet. */
    boolean hasStaged() {
        return staged.bytes() > 0;
    }

    /** Puts a last word behind the last packet; the caller goes on with {@link #flush}. */
    void stageLast(long word) {
        staged.addLong(word);
    }

    /** Writes what is staged; returns whether nothing is left. */
    boolean flush() throws IOException {
        return writeStaged() && wire.flush();
    }

    /** Copies blocks until one comes that goes in place, or the buffer is full. */
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
                staged.filledTo(staged.tail()
                        + (int) (before - group.remainingBytes())); // also if memory turns out to be freed
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

    /** Writes the whole segments there are; returns whether the wire has taken them. */
    private boolean writeSegments() throws IOException {
        int bytes = staged.bytes() - staged.bytes() % segmentBytes;
        if (bytes == 0) {
            return true;
        }
        int taken = write(bytes);
        if (staged.bytes() <= MOVED_BYTES || staged.tail() > stagingBytes / 2) {
            staged.compact(); // there is room for the next header, too
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

    /** Writes the block in front from where it is; returns whether the kernel took all of it. */
    private boolean writeInPlace(BufferGroup group) throws IOException {
        inPlace = true;
        long bytes = group.bytes(0);
        long written = wire.write(views.view(group.segment(0), group.offset(0), bytes));
        group.advance(written);
        return written == bytes;
    }
}
