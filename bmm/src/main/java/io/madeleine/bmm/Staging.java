package io.madeleine.bmm;

import io.madeleine.pmm.spi.Blocks;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Where blocks are copied that may not be referenced: SAFER ones that cannot leave at once, and those in confined
 * memory. The first kilobytes are kept from message to message, more is taken and left to the garbage collector.
 *
 * <p>Ownership: a copy is valid until {@link #reset()}.
 *
 * <p>Threading: confined to whoever packs; the copies may be read by any thread.
 */
public final class Staging {
    private static final long KEPT_BYTES = 64 * 1024;

    private final MemorySegment kept = Arena.ofAuto().allocate(KEPT_BYTES, Long.BYTES);
    private long used;
    private MemorySegment lastSegment = kept;
    private long lastOffset;
    private boolean holdsMore;

    /** Takes the kept memory. */
    public Staging() {}

    /** Copies a block; {@link #segment()} and {@link #offset()} then say where to. */
    public void copy(MemorySegment block, long offset, long bytes) {
        if (bytes <= KEPT_BYTES - used) {
            lastSegment = kept;
            lastOffset = used;
            used += bytes + 7 & -8;
        } else {
            lastSegment = Arena.ofAuto().allocate(bytes, Long.BYTES);
            lastOffset = 0;
            holdsMore = true;
        }
        Blocks.copy(block, offset, lastSegment, lastOffset, bytes);
    }

    /** The segment of the last copy. */
    public MemorySegment segment() {
        return lastSegment;
    }

    /** The offset of the last copy in its segment. */
    public long offset() {
        return lastOffset;
    }

    /** Forgets all copies. */
    public void reset() {
        used = 0;
        if (holdsMore) {
            holdsMore = false;
            lastSegment = kept; // and the garbage collector has the rest
        }
    }
}
