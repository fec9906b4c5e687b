package io.madeleine.tm.sci.shared;

import java.lang.foreign.MemorySegment;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * A block of memory that peers can map: a whole file, or some pages of a {@link Slab}.
 *
 * <p>Threading: thread-safe.
 */
final class SharedBlock {
    private final BlockFile file;
    private final @Nullable Slab slab;
    private final long offset;
    private final MemorySegment memory;
    private final Set<SciExport> exports = ConcurrentHashMap.newKeySet();
    private volatile boolean removed;

    /**
     * Creates a block.
     *
     * @param offset where the block begins in the file
     * @param memory the block as this process has it mapped
     */
    SharedBlock(BlockFile file, @Nullable Slab slab, long offset, MemorySegment memory) {
        this.file = file;
        this.slab = slab;
        this.offset = offset;
        this.memory = memory;
    }

    BlockFile file() {
        return file;
    }

    /** The slab that the block is part of; null if the block is a file of its own. */
    @Nullable
    Slab slab() {
        return slab;
    }

    /** Where the block begins in its file. */
    long offset() {
        return offset;
    }

    MemorySegment memory() {
        return memory;
    }

    /** Adds an export; returns false if the memory is being freed. */
    boolean enter(SciExport export) {
        exports.add(export);
        return !removed;
    }

    void forget(SciExport export) {
        exports.remove(export);
    }

    /**
     * Revokes all exports, for good.
     *
     * @return false if a peer still works on one of them at the deadline
     */
    boolean revokeExports(long deadlineNs) {
        removed = true;
        for (SciExport export : exports) {
            boolean _ = export.revokeBy(deadlineNs);
        }
        return exports.isEmpty();
    }
}
