package io.madeleine.tm.sci;

import io.madeleine.pmm.spi.CopyEngine;
import io.madeleine.pmm.spi.ProcessIdentity;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.jspecify.annotations.Nullable;

/**
 * The memory of the process at the other end, as far as this one can read it. That it can is tried once, on a word of which
 * the peer has said where it lies and what it says: with the permission this proves that the pid is the peer's, which in
 * another container might be anybody's. What is found stands in the pair segment for the peer to see.
 *
 * <p>Threading: guarded by the connection's receive lock.
 */
final class PeerMemory {
    private static final long PIECE_BYTES = 512 * 1024;

    /** Of a piece that two threads read: a sleeping helper is awake before one is over. */
    private static final long SHARED_PIECE_BYTES = 4 * PIECE_BYTES;

    private final MemorySegment memory;
    private final long ownReads;
    private final ProcessIdentity peer;
    private final SingleCopy singleCopy;
    private final PeerBlocks blocks;
    private final CopyEngine.@Nullable Reader reader;
    private final @Nullable CopyHelper helper;
    private final CopyHelper.@Nullable Copy helped;

    PeerMemory(PairSegment segment, FileStem peer, SingleCopy singleCopy) {
        this.memory = segment.memory();
        this.ownReads = PairLayout.reads(segment.side());
        this.peer = peer.identity();
        this.blocks = singleCopy.blocksOf(peer);
        this.singleCopy = singleCopy;
        long lender = PairLayout.lender(segment.otherSide());
        long pid = PairHeaderFlyweight.lenderPid(memory, lender);
        reader = pid > 0 && pid <= Integer.MAX_VALUE ? singleCopy.open(pid, segment.arena()) : null;
        helper = reader == null ? null : singleCopy.helper();
        CopyEngine.Reader second = helper == null ? null : singleCopy.open(pid, segment.arena());
        helped = second == null ? null : new CopyHelper.Copy(second);
        if (reader != null && canRead(reader, lender, segment)) {
            Words.setVolatile(memory, ownReads, 1);
        }
    }

    private boolean canRead(CopyEngine.Reader probe, long lender, PairSegment segment) {
        MemorySegment found = segment.arena().allocate(ValueLayout.JAVA_LONG);
        long count = probe.read(PairHeaderFlyweight.lenderMarkAddress(memory, lender), found, 0, Long.BYTES);
        if (count < 0) {
            singleCopy.warn(peer, probe.explain(count));
            return false;
        }
        if (count != Long.BYTES
                || found.get(ValueLayout.JAVA_LONG, 0) != PairHeaderFlyweight.lenderMark(memory, lender)) {
            singleCopy.warn(peer, "its pid is another process's here: it runs in another container");
            return false;
        }
        return true;
    }

    /** The blocks of the process at the other end that this one has mapped. */
    PeerBlocks blocks() {
        return blocks;
    }

    /** How much of a block is to be read by one call, during which whoever polls does nothing else. */
    long pieceBytes(long blockBytes) {
        return helper != null && blockBytes >= singleCopy.offloadFromBytes() ? SHARED_PIECE_BYTES : PIECE_BYTES;
    }

    /** Reads the beginning while the helper reads the end, which counts if there is no gap. */
    private static long readTogether(
            CopyEngine.Reader own,
            CopyHelper helper,
            CopyHelper.Copy helped,
            long address,
            MemorySegment target,
            long offset,
            long bytes) {
        long front = Words.align(bytes / 2, CellLayout.PAGE_BYTES);
        if (!helper.offer(helped, address + front, target, offset + front, bytes - front)) {
            return own.read(address, target, offset, Math.min(bytes, PIECE_BYTES));
        }
        long count = 0;
        long behind;
        try {
            count = own.read(address, target, offset, front);
        } finally {
            behind = helper.finish(helped); // also if the memory turns out to be freed
        }
        return count == front ? front + behind : count;
    }

    /** Whether a block that was lent lies in memory that can be mapped, for which nobody's permission is needed. */
    static boolean isShared(long address) {
        return address < 0;
    }

    /** Reads, and answers how many bytes that were, or 0 if they cannot be had this way. */
    long read(long address, MemorySegment target, long offset, long bytes) {
        if (isShared(address)) {
            return blocks.read(address, target, offset, bytes);
        }
        if (reader == null) {
            return 0;
        }
        long count = helper != null && helped != null && bytes > PIECE_BYTES
                ? readTogether(reader, helper, helped, address, target, offset, bytes)
                : reader.read(address, target, offset, bytes);
        if (count > 0) {
            return count;
        }
        if (count != CopyEngine.Reader.BAD_ADDRESS && Words.plain(memory, ownReads) != 0) {
            Words.setVolatile(memory, ownReads, 0);
            singleCopy.warn(peer, reader.explain(count));
        }
        return 0;
    }
}
