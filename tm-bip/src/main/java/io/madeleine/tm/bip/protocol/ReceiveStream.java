package io.madeleine.tm.bip.protocol;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * The receiving half of a stream: bytes arrive in any order, and are read in order. They lie in a ring unless {@link
 * Placement} has put them where the reader wants them.
 *
 * <p>Threading: confined.
 */
public final class ReceiveStream {
    private final Ring ring;
    private final RangeSet ahead = new RangeSet();
    private final RangeSet placed = new RangeSet();
    private Placement placement = Placement.NOWHERE;
    private long taken;
    private long contiguous;
    private long arrivedBytes;
    private long announcedLimit;
    private boolean discarding;
    private final @Nullable GrantScheduler scheduler;
    private final @Nullable Grant grant;

    /** A stream whose sender may fill the ring. */
    ReceiveStream(Ring ring, long announcedLimit) {
        this.ring = ring;
        this.announcedLimit = announcedLimit;
        this.scheduler = null;
        this.grant = null;
    }

    /** A stream whose sender may send what it is granted. */
    ReceiveStream(Ring ring, GrantScheduler scheduler, Grant grant) {
        this.ring = ring;
        this.scheduler = scheduler;
        this.grant = grant;
    }

    // ---- the reader

    /** Sets where bytes may be placed that arrive from now on. */
    public void placement(Placement wanted) {
        placement = wanted;
    }

    /** How many bytes have been taken. */
    public long takenBytes() {
        return taken;
    }

    /** How many bytes can be read. */
    public int readableBytes() {
        return (int) (contiguous - taken);
    }

    /** Whether the next bytes have been placed. */
    public boolean isPlaced() {
        return placed.contains(taken);
    }

    /** How many readable bytes, at most so many, lie in one piece of the ring, or are placed without a gap. */
    public int pieceBytes(long maxBytes) {
        long end = taken + Math.min(maxBytes, contiguous - taken);
        long run = placed.runFrom(taken, end);
        return run > 0 ? (int) run : ring.piece(taken, (int) (placed.nextFrom(taken, end) - taken));
    }

    /** The memory of the ring. */
    public MemorySegment memory() {
        return ring.memory();
    }

    /** Where in the memory the next byte to read lies, unless it is placed. */
    public int headIndex() {
        return ring.index(taken);
    }

    /** Bytes have been read. */
    public void take(int bytes) {
        taken += bytes;
        placed.removeBelow(taken);
    }

    /** Copies readable bytes that are not placed, and takes them. */
    public void take(MemorySegment target, long position, int bytes) {
        ring.read(taken, target, position, bytes);
        take(bytes);
    }

    /** Takes eight readable bytes, which are not placed, little-endian. */
    public long takeLong() {
        long value = ring.readLong(taken);
        take(Long.BYTES);
        return value;
    }

    /** The first placed range behind the taken bytes; its start, or -1 if there is none. */
    public long placedStart() {
        return placed.isEmpty() ? -1 : placed.start(0);
    }

    /** Behind the range of {@link #placedStart()}. */
    public long placedEnd() {
        return placed.end(0);
    }

    /** Copies placed bytes into the ring: their memory is wanted back. */
    public void unplace(long offset, MemorySegment source, long position, int bytes) {
        ring.write(offset, source, position, bytes);
        placed.remove(offset, offset + bytes);
    }

    /** Forgets that bytes were placed: their memory was freed, and nobody will look at them. */
    public void lose(long offset, int bytes) {
        ring.memory();
        placed.remove(offset, offset + bytes);
    }

    // ---- the protocol

    /** Whether bytes may arrive up to this offset. */
    boolean permits(long end) {
        return end <= announcedLimit;
    }

    /** Takes what may fail for lack of memory, so that an acknowledged datagram is never half stored. */
    void prepare() {
        if (!discarding && placement == Placement.NOWHERE) {
            ring.memory();
        }
    }

    /**
     * Takes bytes that have arrived.
     *
     * @throws OutOfMemoryError if there is none for all of them; what was stored has arrived all the same
     */
    void arrived(long offset, MemorySegment source, long position, int bytes) {
        long start = Math.max(offset, contiguous);
        long end = offset + bytes;
        try {
            while (start < end) { // what arrived before, and may have been read, is not written again
                long known = ahead.runFrom(start, end);
                if (known > 0) {
                    start += known;
                    continue;
                }
                int fresh = (int) (ahead.nextFrom(start, end) - start);
                int stored = store(start, source, position + (start - offset), fresh);
                ahead.add(start, start + stored);
                arrivedBytes += stored;
                start += stored;
            }
        } finally {
            if (!ahead.isEmpty() && ahead.start(0) <= contiguous) {
                contiguous = Math.max(contiguous, ahead.end(0));
                ahead.removeBelow(contiguous);
            }
        }
    }

    /** Stores at least the first of these bytes; returns how many. */
    private int store(long offset, MemorySegment source, long position, int bytes) {
        if (discarding) {
            return bytes;
        }
        int here = placement.place(offset, source, position, bytes);
        if (here > 0) {
            placed.add(offset, offset + here);
            return here;
        }
        ring.write(offset, source, position, -here);
        return -here;
    }

    long contiguous() {
        return contiguous;
    }

    /** How many bytes have arrived, in whatever order. */
    long arrivedBytes() {
        return arrivedBytes;
    }

    private long limit() {
        GrantScheduler by = scheduler;
        Grant granted = grant;
        if (by == null || granted == null) {
            return taken + ring.capacity();
        }
        if (isQuarter(taken + ring.capacity() - granted.limit())) {
            by.taken(granted, taken);
        }
        return granted.limit();
    }

    private boolean isQuarter(long bytes) {
        return bytes >= Math.max(1, ring.capacity() / 4);
    }

    /** Whether the sender should hear of more room: it was granted some, or has filled a quarter of the window. */
    boolean isCreditDue() {
        if (discarding) {
            return false;
        }
        long room = limit() - announcedLimit;
        return grant == null ? isQuarter(room) : room > 0;
    }

    /** Whether the sender should hear of more room at once: it may have filled half of the window. */
    boolean isCreditUrgent() {
        return !discarding && limit() - announcedLimit >= ring.capacity() / 2;
    }

    long announce() {
        announcedLimit = Math.max(announcedLimit, limit());
        return announcedLimit;
    }

    /** Nobody reads any more: what arrives is acknowledged and dropped. */
    void discard() {
        discarding = true;
        placed.clear();
        placement = Placement.NOWHERE;
        ring.rest();
    }

    boolean isQuiet() {
        return contiguous == taken && ahead.isEmpty();
    }

    void rest() {
        if (isQuiet()) {
            ring.rest();
        }
    }
}
