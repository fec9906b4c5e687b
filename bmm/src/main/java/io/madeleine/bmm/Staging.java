package io.madeleine.bmm;

import io.madeleine.api.BlockLayout;
import io.madeleine.pmm.spi.Blocks;
import io.madeleine.pmm.spi.BufferGroup;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * Where blocks are copied that may not be referenced: SAFER ones that cannot leave at once, and those in confined
 * memory. The first kilobytes of a message are copied into a piece of the {@link StagingPool}, for more memory is taken that
 * is left to the garbage collector. Without a copy nothing is held.
 *
 * <p>Ownership: a copy is valid until {@link #reset()}.
 *
 * <p>Threading: confined to whoever packs; the copies may be read by any thread.
 */
public final class Staging {
    private final StagingPool pool;
    private final int home;
    private @Nullable MemorySegment piece;
    private long used;
    private MemorySegment lastSegment = MemorySegment.NULL;
    private long lastOffset;
    private boolean holdsCopies;

    /** Takes no memory yet. */
    public Staging(StagingPool pool) {
        this.pool = pool;
        this.home = pool.newHome();
    }

    /** Copies a block; {@link #segment()} and {@link #offset()} then say where to. */
    public void copy(MemorySegment block, long offset, long bytes) {
        reserve(bytes);
        Blocks.copy(block, offset, lastSegment, lastOffset, bytes);
    }

    /** Copies what a layout has of a block, or a part of it, so that it is contiguous. */
    public void copy(BlockLayout block, long position, long bytes) {
        reserve(bytes);
        Blocks.gather(block, position, lastSegment, lastOffset, bytes);
    }

    /** Copies what is left of a block of a group. */
    void copy(BufferGroup group, int block) {
        reserve(group.blockBytes(block));
        group.copyBlock(block, lastSegment, lastOffset);
    }

    private void reserve(long bytes) {
        holdsCopies = true;
        if (bytes <= StagingPool.PIECE_BYTES - used) {
            lastSegment = piece();
            lastOffset = used;
            used += bytes + 7 & -8;
        } else {
            lastSegment = Arena.ofAuto().allocate(bytes, Long.BYTES);
            lastOffset = 0;
        }
    }

    private MemorySegment piece() {
        MemorySegment taken = piece;
        if (taken == null) {
            taken = pool.take(home);
            piece = taken;
        }
        return taken;
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
        if (!holdsCopies) {
            return; // as after most messages: to store a reference costs a fence under some collectors
        }
        holdsCopies = false;
        used = 0;
        lastSegment = MemorySegment.NULL; // and the garbage collector has what is not the pool's
        MemorySegment taken = piece;
        if (taken != null) {
            piece = null;
            pool.give(taken, home);
        }
    }
}
