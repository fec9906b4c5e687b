package io.madeleine.tm.tcp;

import io.madeleine.pmm.spi.Blocks;
import io.madeleine.pmm.spi.BufferGroup;
import io.madeleine.pmm.spi.LinkStatus;
import io.madeleine.tm.tcp.StreamBuffers.StreamBuffer;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * The sending half of a stream. Header, small blocks and blocks of heap memory are gathered in a buffer and leave with
 * one write; large native blocks are written from where they are. The JDK's gathering write would save a call, but it
 * allocates for each buffer over a segment. Nothing is queued (Nemesis, section 3.4): a packet is complete when the kernel has
 * taken all of it, but for small ones of a dense stream, which are complete in the buffer.
 *
 * <p>Threading: guarded by the lock of {@link StreamOutput}. Ownership: blocks in place are lent for the time of a call.
 */
final class StreamSender {
    /** So much is kept back at most: more in one write would save next to nothing. */
    private static final int MAX_KEPT_BYTES = 16 * 1024;

    /** How much of a block in place is copied behind the header before it. */
    private static final int LEAD_BYTES = 8 * 1024;

    private final Wire wire;
    private final int inPlaceFromBytes;
    private final int stagingBytes;
    private final int keptBytes;
    private final StreamBuffers buffers;
    private final SegmentViews views = new SegmentViews();

    /** What is staged and not written; without a buffer while that is nothing. */
    private @Nullable StreamBuffer staging;

    private int head;

    private int tail;

    private boolean underWay;
    private boolean trailerTaken;

    /** Whether part of the packet has been written from where it was: then it is none of the small ones. */
    private boolean inPlace;

    StreamSender(Wire wire, TcpConfig.StreamConfig config, StreamBuffers buffers) {
        this.wire = wire;
        this.buffers = buffers;
        this.inPlaceFromBytes = wire.reachesUserMemory() ? config.inPlaceFromBytes() : Integer.MAX_VALUE;
        this.stagingBytes = config.bufferBytes() - Long.BYTES; // there is always room for a trailer
        this.keptBytes = Math.min(MAX_KEPT_BYTES, stagingBytes / 4);
    }

    /**
     * As {@link io.madeleine.pmm.spi.DynamicLink#send} says.
     *
     * @param mayKeep whether a small packet, with others before it, may stay in the buffer until the next {@link #flush()}
     */
    int send(long header, BufferGroup group, long trailer, boolean mayKeep) throws IOException {
        if (!underWay) {
            stage(header);
            underWay = true;
            inPlace = false;
            trailerTaken = false;
        }
        while (true) {
            stageBlocks(group);
            if (group.isEmpty() && !trailerTaken) { // until now it could be exchanged
                if (trailer != 0) {
                    stage(trailer);
                }
                trailerTaken = true;
            }
            if (mayKeep && !inPlace && tail <= keptBytes && group.isEmpty()) {
                underWay = false;
                return LinkStatus.COMPLETE;
            }
            boolean all = head < tail ? writeStaged() : group.isEmpty() || writeInPlace(group);
            if (head == tail && group.isEmpty() && trailerTaken) {
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

    /** Whether something waits for the next {@link #flush()} or packet. */
    boolean hasStaged() {
        return tail > head;
    }

    /** Puts a last word behind the last packet; the caller goes on with {@link #flush}. */
    void stageLast(long word) {
        stage(word);
    }

    /** Writes what is staged; returns whether nothing is left. */
    boolean flush() throws IOException {
        return writeStaged() && wire.flush();
    }

    private void stage(long word) {
        staged().set(Blocks.LONG, tail, word);
        tail += Long.BYTES;
    }

    private MemorySegment staged() {
        StreamBuffer used = staging;
        if (used == null) {
            used = buffers.take();
            staging = used;
        }
        return used.memory();
    }

    /** Copies blocks until one comes that goes in place, or the buffer is full. */
    private void stageBlocks(BufferGroup group) {
        while (!group.isEmpty() && tail < stagingBytes) {
            long bytes = Math.min(group.bytes(0), stagingBytes - tail);
            if (goesInPlace(group)) {
                if (tail == head || tail - head >= LEAD_BYTES) {
                    return;
                }
                bytes = Math.min(bytes, LEAD_BYTES); // so that the header does not leave alone
            }
            long before = group.remainingBytes();
            try {
                group.drainTo(staged(), tail, bytes);
            } finally {
                tail += (int) (before - group.remainingBytes()); // also if memory turns out to be freed
            }
        }
    }

    private boolean goesInPlace(BufferGroup group) {
        return group.bytes(0) >= inPlaceFromBytes && group.segment(0).isNative();
    }

    private boolean writeStaged() throws IOException {
        StreamBuffer used = staging;
        if (used == null) {
            return true;
        }
        head += wire.write(used.bytes().limit(tail).position(head));
        if (head < tail) {
            return false;
        }
        head = 0;
        tail = 0;
        staging = null;
        buffers.give(used);
        return true;
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
