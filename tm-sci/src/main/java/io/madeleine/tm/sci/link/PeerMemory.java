package io.madeleine.tm.sci.link;

import io.madeleine.pmm.spi.CopyEngine;
import io.madeleine.pmm.spi.ProcessIdentity;
import io.madeleine.tm.sci.files.FileStem;
import io.madeleine.tm.sci.memory.OrderedWords;
import io.madeleine.tm.sci.shared.PeerBlocks;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.jspecify.annotations.Nullable;

/**
 * The memory of the process at the other end, as far as this process can read it. The constructor tests this once: it
 * reads a mark whose address and value the peer has published. If this succeeds, the system permits it, and the pid is
 * the peer's; in another container the same pid may be any process. The result is published in the pair segment.
 *
 * <p>Threading: guarded by the connection's receive lock.
 */
public final class PeerMemory {
    private static final long PIECE_BYTES = 512 * 1024;

    /** The size of a piece that two threads read: long enough for a parked helper to wake up before it is read. */
    private static final long SHARED_PIECE_BYTES = 4 * PIECE_BYTES;

    private final MemorySegment memory;
    private final long ownReads;
    private final ProcessIdentity peer;
    private final SingleCopy singleCopy;
    private final PeerBlocks blocks;
    private final CopyEngine.@Nullable Reader reader;
    private final @Nullable CopyHelper helper;
    private final CopyHelper.@Nullable Copy helped;

    public PeerMemory(PairSegment segment, FileStem peer, SingleCopy singleCopy) {
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
            OrderedWords.setVolatile(memory, ownReads, 1);
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
            singleCopy.warn(peer, "its pid belongs to another process here, so it runs in another container");
            return false;
        }
        return true;
    }

    /** The shared blocks of the peer that this process has mapped. */
    PeerBlocks blocks() {
        return blocks;
    }

    /** The bytes to read by one call, during which the polling thread does nothing else. */
    long pieceBytes(long blockBytes) {
        return helper != null && blockBytes >= singleCopy.offloadFromBytes() ? SHARED_PIECE_BYTES : PIECE_BYTES;
    }

    /**
     * Reads the first half while the helper reads the second half.
     *
     * @return the bytes read without a gap, or a negative code as {@link CopyEngine.Reader#read}
     */
    private static long readTogether(
            CopyEngine.Reader own,
            CopyHelper helper,
            CopyHelper.Copy helped,
            long address,
            MemorySegment target,
            long offset,
            long bytes) {
        long front = OrderedWords.align(bytes / 2, OrderedWords.PAGE_BYTES);
        if (!helper.offer(helped, address + front, target, offset + front, bytes - front)) {
            return own.read(address, target, offset, Math.min(bytes, PIECE_BYTES));
        }
        long count = 0;
        long behind;
        try {
            count = own.read(address, target, offset, front);
        } finally {
            behind = helper.finish(helped); // also if the target's memory has been freed
        }
        return count == front ? front + behind : count;
    }

    /** Whether a lent block lies in a shared block, which this process can map without permission. */
    static boolean isShared(long address) {
        return address < 0;
    }

    /**
     * Reads from the peer's memory.
     *
     * @return the number of bytes read; 0 if they cannot be read this way
     */
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
        if (count != CopyEngine.Reader.BAD_ADDRESS && OrderedWords.plain(memory, ownReads) != 0) {
            OrderedWords.setVolatile(memory, ownReads, 0);
            singleCopy.warn(peer, reader.explain(count));
        }
        return 0;
    }
}
