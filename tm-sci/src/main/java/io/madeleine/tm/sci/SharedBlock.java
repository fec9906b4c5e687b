package io.madeleine.tm.sci;

import java.lang.foreign.MemorySegment;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Memory of this process that its peers can reach: all of a file, or some pages of a {@link Slab}.
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

    /** Such memory, as its user has it mapped, which begins at that offset of the file. */
    SharedBlock(BlockFile file, @Nullable Slab slab, long offset, MemorySegment memory) {
        this.file = file;
        this.slab = slab;
        this.offset = offset;
        this.memory = memory;
    }

    BlockFile file() {
        return file;
    }

    /** What it is cut out of, or null if it is a file of its own. */
    @Nullable
    Slab slab() {
        return slab;
    }

    /** Where it begins in its file. */
    long offset() {
        return offset;
    }

    MemorySegment memory() {
        return memory;
    }

    /** Enters an export; false if the memory is being freed. */
    boolean enter(SciExport export) {
        exports.add(export);
        return !removed;
    }

    void forget(SciExport export) {
        exports.remove(export);
    }

    /** Revokes all exports; false if a peer still works on one of them at the deadline, or did when it was revoked before. */
    boolean revokeExports(long deadlineNs) {
        removed = true;
        for (SciExport export : exports) {
            boolean _ = export.revokeBy(deadlineNs);
        }
        return exports.isEmpty();
    }
}
