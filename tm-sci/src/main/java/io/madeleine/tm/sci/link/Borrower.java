package io.madeleine.tm.sci.link;

import io.madeleine.pmm.spi.BufferGroup;
import io.madeleine.tm.sci.memory.OrderedWords;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * The receiving end of loans. It reads a block in the sender's memory, piece by piece, straight into the target, and
 * passes bytes on when the sender has granted them. It refuses bytes that it cannot read; the sender then sends them
 * through cells. It also refuses if the target lies in the Java heap and the block is not shared, if the permission is
 * lost, or if the packet is dropped.
 *
 * <p>Threading: single-writer (the holder of the receive lock); {@link #isReadable} any thread.
 */
final class Borrower {
    private static final int NONE = -1;

    /** No grant is awaited: there is work to do now. */
    private static final long NOTHING = -1;

    private final MemorySegment memory;
    private final CellLayout layout;
    private final PeerMemory source;

    private volatile int cell = NONE;
    private volatile long awaitedGrant = NOTHING;
    private long address;
    private long lengthBytes;

    /** Bytes that have been read. */
    private long takenBytes;

    private long grantedBytes;

    /** Bytes passed on or dropped. The bytes between this and takenBytes were read but not granted yet. */
    private long passedBytes;

    private boolean refused;
    private boolean ended;
    private boolean answered;
    private boolean broken;
    private @Nullable MemorySegment target;
    private long targetOffset;

    Borrower(MemorySegment memory, CellLayout layout, PeerMemory source) {
        this.memory = memory;
        this.layout = layout;
        this.source = source;
    }

    /** Begins the loan in a cell; returns false if it is invalid. */
    boolean open(int lentCell, long packetLeftBytes) {
        address = OrderedWords.plain(memory, layout.address(lentCell));
        lengthBytes = OrderedWords.plain(memory, layout.length(lentCell));
        takenBytes = 0;
        grantedBytes = 0;
        passedBytes = 0;
        refused = false;
        ended = false;
        awaitedGrant = NOTHING;
        cell = lentCell;
        return lengthBytes > 0 && lengthBytes <= packetLeftBytes;
    }

    boolean isBorrowing() {
        return cell != NONE;
    }

    /**
     * Passes on the granted bytes, and reads on into the block in front of the group.
     *
     * @throws IllegalStateException if memory of the group has been freed; the group knows how much was passed on
     */
    void receive(BufferGroup group, long maxBytes) {
        long limit = Math.min(maxBytes, group.remainingBytes());
        if (takeGrant()) {
            long before = group.remainingBytes();
            passOn(group, limit);
            if (!ended && !readOn(group, limit - (before - group.remainingBytes()))) {
                awaitGrant();
            }
        }
    }

    private boolean takeGrant() {
        long word = OrderedWords.acquire(memory, layout.granted(cell));
        long bytes = word & ~CellLayout.LAST;
        if (bytes < grantedBytes || bytes > takenBytes) {
            broken = true;
            return false;
        }
        grantedBytes = bytes;
        ended = word < 0;
        awaitedGrant = NOTHING;
        return true;
    }

    /** Makes {@link #isReadable} answer false until the next grant, if another grant will follow. */
    private void awaitGrant() {
        if (!ended && (refused || takenBytes > grantedBytes)) {
            awaitedGrant = grantedBytes;
        }
    }

    private void passOn(BufferGroup group, long limit) {
        long bytes = Math.min(grantedBytes - passedBytes, limit);
        if (bytes == 0) {
            return;
        }
        long before = group.remainingBytes();
        MemorySegment read = target;
        try {
            if (read == null || isTarget(group)) {
                group.advance(bytes);
            } else {
                long _ = group.fillFrom(read, targetOffset, bytes); // The target has changed since the bytes were read.
            }
        } finally {
            long moved = before - group.remainingBytes();
            passedBytes += moved;
            targetOffset += moved;
        }
    }

    private boolean isTarget(BufferGroup group) {
        return group.segment(0).equals(target) && group.offset(0) == targetOffset;
    }

    /**
     * Reads a piece into the block in front.
     *
     * @return whether more of it can be read at once
     */
    private boolean readOn(BufferGroup group, long limit) {
        long aheadBytes = takenBytes - passedBytes;
        if (refused || takenBytes == lengthBytes || group.isEmpty() || aheadBytes > 0 && !isTarget(group)) {
            return false;
        }
        long room = Math.min(lengthBytes - takenBytes, Math.min(limit, group.bytes(0)) - aheadBytes);
        if (room <= 0) {
            return false;
        }
        MemorySegment block = group.segment(0);
        boolean scrap = room < Lender.MIN_BYTES && room < lengthBytes - takenBytes;
        if (scrap || block.isReadOnly() || !block.isNative() && !PeerMemory.isShared(address)) {
            refuse();
            return false;
        }
        long offset = group.offset(0);
        long bytes = source.read(
                address + takenBytes, block, offset + aheadBytes, Math.min(room, source.pieceBytes(lengthBytes)));
        if (bytes <= 0) {
            refuse();
            return false;
        }
        target = block;
        targetOffset = offset;
        takenBytes += bytes;
        answer(takenBytes);
        return bytes < room;
    }

    private void refuse() {
        refused = true;
        answer(takenBytes | CellLayout.LAST);
    }

    private void answer(long word) {
        answered = true;
        OrderedWords.setRelease(memory, layout.taken(cell), word);
    }

    /**
     * Drops the granted bytes, and refuses the rest: the sender sends it through cells, where it can be dropped unread.
     */
    long skip(long maxBytes) {
        if (!refused && takenBytes < lengthBytes) {
            refuse();
        }
        if (!takeGrant()) {
            return 0;
        }
        long bytes = Math.min(grantedBytes - passedBytes, maxBytes);
        passedBytes += bytes;
        targetOffset += bytes;
        awaitGrant();
        return bytes;
    }

    /** Whether the sender has ended the loan and all granted bytes have been passed on. */
    boolean isOver() {
        return ended && passedBytes == grantedBytes;
    }

    /** Forgets the loan. */
    void close() {
        target = null;
        cell = NONE;
    }

    boolean isBroken() {
        return broken;
    }

    /** Whether the borrower has answered the sender since the last call. */
    boolean hasAnswered() {
        boolean now = answered;
        answered = false;
        return now;
    }

    /** Whether there is work for the loan in that cell. May be wrongly true for a moment, but never wrongly false. */
    boolean isReadable(int lentCell) {
        return cell != lentCell || OrderedWords.acquire(memory, layout.granted(lentCell)) != awaitedGrant;
    }
}
