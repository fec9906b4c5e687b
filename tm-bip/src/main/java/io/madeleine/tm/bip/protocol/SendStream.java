package io.madeleine.tm.bip.protocol;

import java.lang.foreign.MemorySegment;

/**
 * The sending half of a stream: bytes stay in a ring until they are acknowledged. What was lost is sent again before
 * anything new.
 *
 * <p>Threading: confined.
 */
public final class SendStream {
    private final Ring ring;
    private final RangeSet acked = new RangeSet();
    private final RangeSet lost = new RangeSet();
    private long base; // all bytes before it are acknowledged
    private long next; // the first byte that was never sent
    private long end; // behind the last byte
    private long limit; // the receiver takes bytes before it
    private long rangeOffset;
    private long wanted; // the user will append bytes up to this offset

    SendStream(Ring ring, long limit) {
        this.ring = ring;
        this.limit = limit;
    }

    // ---- the user of the stream

    /** How many bytes can be appended. */
    public int room() {
        return ring.capacity() - (int) (end - base);
    }

    /** As {@link #room()}; 0 while there is no memory for the window. */
    public int roomInMemory() {
        return ring.hasMemory() ? room() : 0;
    }

    /** Whether the window has no memory; a stream that was empty for a while has none either. */
    public boolean lacksMemory() {
        return !ring.isHeld();
    }

    /** The most bytes that can wait to be acknowledged. */
    public int capacity() {
        return ring.capacity();
    }

    /** How many bytes can be appended in one piece at {@link #tailIndex()} of {@link #memory()}. */
    public int pieceRoom() {
        return ring.piece(end, roomInMemory());
    }

    /** The memory of the ring; it may be another one after the stream was empty. */
    public MemorySegment memory() {
        return ring.memory();
    }

    /** Where in the memory the next byte is appended. */
    public int tailIndex() {
        return ring.index(end);
    }

    /** The bytes from {@link #tailIndex()} on have been written. */
    public void append(int bytes) {
        end += bytes;
    }

    /** Appends bytes of other memory; the caller has seen {@link #room()} for them. */
    public void append(MemorySegment source, long position, int bytes) {
        ring.write(end, source, position, bytes);
        end += bytes;
    }

    /** Appends eight bytes, little-endian; the caller has seen {@link #room()} for them. */
    public void appendLong(long value) {
        ring.writeLong(end, value);
        end += Long.BYTES;
    }

    /** Takes back the last bytes, which were appended and not sent. */
    public void withdraw(int bytes) {
        end -= bytes;
    }

    /** The user is going to append this many bytes, so that the receiver can be asked for room for all of them. */
    public void want(long bytes) {
        wanted = Math.max(wanted, end + bytes);
    }

    /** How many bytes the stream has had. */
    public long length() {
        return end;
    }

    /** How many bytes were never sent. */
    public long unsentBytes() {
        return end - next;
    }

    // ---- the protocol

    long base() {
        return base;
    }

    boolean isAcknowledged() {
        return base == end;
    }

    void credit(long offset) {
        limit = Math.max(limit, offset);
    }

    /** The offset up to which bytes are to be sent, if the receiver does not take so many yet; else 0. */
    long missingUpTo() {
        long last = Math.max(wanted, end);
        return last > limit ? last : 0;
    }

    /** Whether the receiver takes bytes up to this offset. */
    boolean isWithinLimit(long offset) {
        return offset <= limit;
    }

    boolean hasLost() {
        return !lost.isEmpty();
    }

    boolean hasToSend() {
        return hasLost() || next < Math.min(end, limit);
    }

    /** How many bytes may be sent now: lost ones, or else those that were never sent. */
    long bytesToSend() {
        return hasLost() ? lost.end(0) - lost.start(0) : Math.min(end, limit) - next;
    }

    /** Chooses the next bytes to send, at most {@code maxBytes}; returns how many, from {@link #rangeOffset()} on. */
    int take(int maxBytes) {
        if (hasLost()) {
            rangeOffset = lost.start(0);
            int bytes = (int) Math.min(maxBytes, lost.end(0) - rangeOffset);
            lost.remove(rangeOffset, rangeOffset + bytes);
            return bytes;
        }
        rangeOffset = next;
        int bytes = (int) Math.min(maxBytes, Math.max(0, Math.min(end, limit) - next));
        next += bytes;
        return bytes;
    }

    long rangeOffset() {
        return rangeOffset;
    }

    void copy(long offset, MemorySegment target, long position, int bytes) {
        ring.read(offset, target, position, bytes);
    }

    /** As {@link #copy}, but the bytes stay where they are until the datagram was sent; returns whether they can. */
    boolean lend(long offset, int bytes, Datagram out) {
        return ring.lend(offset, bytes, out);
    }

    void acknowledged(long offset, int bytes) {
        if (offset + bytes <= base) {
            return;
        }
        acked.add(Math.max(base, offset), offset + bytes);
        lost.remove(offset, offset + bytes);
        if (acked.start(0) == base) {
            base = acked.end(0);
            acked.removeBelow(base);
        }
    }

    /** Sends the bytes of this range again, as far as they were not acknowledged. */
    void sendAgain(long offset, int bytes) {
        long from = Math.max(base, offset);
        long to = offset + bytes;
        while (from < to) {
            long run = acked.runFrom(from, to);
            if (run > 0) {
                from += run;
            } else {
                long until = acked.nextFrom(from, to);
                lost.add(from, until);
                from = until;
            }
        }
    }

    /** Drops everything: the peer takes nothing more. */
    void discard() {
        acked.clear();
        lost.clear();
        base = end;
        next = end;
        limit = Math.max(limit, end);
        wanted = 0;
        ring.rest();
    }

    void rest() {
        if (base == end) {
            ring.rest();
        }
    }
}
