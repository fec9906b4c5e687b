package io.madeleine.bmm;

import io.madeleine.api.BlockLayout;
import io.madeleine.pmm.spi.Blocks;
import io.madeleine.pmm.spi.BufferGroup;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Where blocks are copied that may not be referenced: SAFER ones that cannot leave at once, and those in confined
 * memory. They are copied into pieces of the {@link StagingPool}, one behind the other as long as there is room, and a new piece
 * is taken where there is none. Without a copy nothing is held.
 *
 * <p>Ownership: a copy is valid until {@link #reset()}.
 *
 * <p>Threading: confined to whoever packs; the copies may be read by any thread.
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

    /** Forgets all copies. */
    public void reset() {
        if (count == 0) {
            return; // as after most messages: to store a reference costs a fence under some collectors
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
