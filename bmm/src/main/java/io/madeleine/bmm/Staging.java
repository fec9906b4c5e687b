package io.madeleine.bmm;

import io.madeleine.api.BlockLayout;
import io.madeleine.pmm.spi.Blocks;
import io.madeleine.pmm.spi.BufferGroup;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Holds copies of blocks that must not be referenced: SAFER blocks that cannot leave at once, and blocks in confined
 * memory. The copies go into pieces of the {@link StagingPool}, one after the other while there is room, then into a
 * new piece. A staging without copies holds no memory.
 *
 * <p>Ownership: a copy is valid until {@link #reset()}.
 *
 * <p>Threading: confined to the owner of the message; any thread may read the copies.
 */
public final class Staging {
    private final StagingPool pool;
    private final int home;
    private @Nullable MemorySegment[] pieces = new MemorySegment[4];
    private int count;
    private long used;
    private long roomBytes;
    private MemorySegment lastSegment = MemorySegment.NULL;
    private long lastOffset;

    /** Creates a staging without memory. */
    public Staging(StagingPool pool) {
        this.pool = pool;
        this.home = pool.newHome();
    }

    /** Copies a block; {@link #segment()} and {@link #offset()} then tell where the copy is. */
    public void copy(MemorySegment block, long offset, long bytes) {
        reserve(bytes);
        Blocks.copy(block, offset, lastSegment, lastOffset, bytes);
    }

    /** Copies a block of a layout, or a part of it, into contiguous memory. */
    public void copy(BlockLayout block, long position, long bytes) {
        reserve(bytes);
        Blocks.gather(block, position, lastSegment, lastOffset, bytes);
    }

    /** Copies the rest of a block of a group. */
    void copy(BufferGroup group, int block) {
        reserve(group.blockBytes(block));
        group.copyBlock(block, lastSegment, lastOffset);
    }

    private void reserve(long bytes) {
        if (bytes > roomBytes - used) {
            takePiece(bytes);
        }
        lastOffset = used;
        used += bytes + 7 & -8;
    }

    private void takePiece(long bytes) {
        if (count == pieces.length) {
            pieces = Arrays.copyOf(pieces, 2 * count);
        }
        MemorySegment piece = pool.take(bytes, home);
        pieces[count++] = piece;
        lastSegment = piece;
        roomBytes = piece.byteSize();
        used = 0;
    }

    /** The segment of the last copy. */
    public MemorySegment segment() {
        return lastSegment;
    }

    /** The offset of the last copy in its segment. */
    public long offset() {
        return lastOffset;
    }

    /** Drops all copies and returns their memory to the pool. */
    public void reset() {
        if (count == 0) {
            return; // the usual case; it avoids storing a reference, for which some collectors issue a fence
        }
        lastSegment = MemorySegment.NULL;
        used = 0;
        roomBytes = 0;
        while (count > 0) {
            MemorySegment piece = pieces[--count];
            pieces[count] = null;
            if (piece != null) {
                pool.give(piece, home);
            }
        }
    }
}
