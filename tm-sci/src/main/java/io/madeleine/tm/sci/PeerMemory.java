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
    private final MemorySegment memory;
    private final long ownReads;
    private final ProcessIdentity peer;
    private final SingleCopy singleCopy;
    private final CopyEngine.@Nullable Reader reader;

    PeerMemory(PairSegment segment, ProcessIdentity peer, SingleCopy singleCopy) {
        this.memory = segment.memory();
        this.ownReads = PairLayout.reads(segment.side());
        this.peer = peer;
        this.singleCopy = singleCopy;
        long lender = PairLayout.lender(segment.otherSide());
        long pid = PairHeaderFlyweight.lenderPid(memory, lender);
        reader = pid > 0 && pid <= Integer.MAX_VALUE ? singleCopy.open(pid, segment.arena()) : null;
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

    /** Reads, and answers how many bytes that were, or 0 if they cannot be had this way. */
    long read(long address, MemorySegment target, long offset, long bytes) {
        if (reader == null) {
            return 0;
        }
        long count = reader.read(address, target, offset, bytes);
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
