package io.madeleine.tm.sci.shared;

import io.madeleine.pmm.spi.MemorySource;
import io.madeleine.pmm.spi.Region;
import io.madeleine.pmm.spi.RegionListener;
import io.madeleine.pmm.spi.SessionMemory;
import io.madeleine.tm.sci.files.SessionDirectory;
import io.madeleine.tm.sci.memory.SciKeys;
import io.madeleine.tm.sci.memory.SegmentFile;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Shared blocks: memory of this process in files that its peers can map. The lender names such memory by file and
 * offset instead of an address (Open-MX lends by region and offset likewise), and peers need no permission to read it.
 * A large block is a file of its own; smaller blocks are cut out of {@linkplain Slabs slabs}.
 *
 * <p>Threading: thread-safe; {@link #place} and {@link #block} take no lock.
 */
public final class SharedBlocks implements MemorySource, RegionListener, AutoCloseable {
    /**
     * The largest block for messages. A file's memory is reserved at once by writing it, which takes some 30 ms for 64
     * MiB; an access to a page of a sparse file for which there is no room would kill the process.
     */
    private static final long MAX_BLOCK_BYTES = 64 << 20;

    private static final int OFFSET_BITS = 40;
    private static final long OFFSET_MASK = (1L << OFFSET_BITS) - 1;
    private static final int LEAST_REGIONS = 16;

    private final SessionDirectory directory;
    private final SessionMemory memory;
    private final long minBytes;
    private final BlockFiles files;
    private final Slabs slabs;

    /** Blocks that the session has not announced as regions yet, by address. */
    private final Map<Long, SharedBlock> entering = new HashMap<>();

    /**
     * Blocks by the number of their region. A thread that changes an element writes the field again, so that
     * others see it.
     */
    private volatile @Nullable SharedBlock[] byRegion = {};

    /** Blocks of slabs that were removed, but whose memory is not freed yet. */
    private final Map<Region, SharedBlock> leaving = new HashMap<>();

    /**
     * Serves memory from files in that directory.
     *
     * @param minBytes the smallest block of messages to serve; {@link Long#MAX_VALUE} for none
     */
    public SharedBlocks(SessionDirectory directory, SessionMemory memory, long minBytes) {
        this.directory = directory;
        this.memory = memory;
        this.minBytes = minBytes;
        this.files = new BlockFiles(directory);
        this.slabs = new Slabs(files);
        memory.listen(this);
    }

    @Override
    public long commonFromBytes() {
        return minBytes;
    }

    /**
     * {@inheritDoc}
     *
     * <p>Returns nothing for small blocks, for blocks of more than 64 MiB, for further slab blocks once there are
     * {@link Slabs#MANY_BLOCKS}, and where the file system has little room.
     */
    @Override
    public Optional<MemorySegment> allocate(long bytes, Arena arena) {
        if (bytes < minBytes
                || bytes <= Slab.MAX_BLOCK_BYTES && slabs.areMany()
                || bytes > Math.min(MAX_BLOCK_BYTES, directory.bytesToSpare())) {
            return Optional.empty();
        }
        try {
            return Optional.of(create(bytes, arena));
        } catch (IOException _) {
            return Optional.empty(); // Another process has taken the room.
        }
    }

    @Override
    public MemorySegment allocateShared(long bytes, Arena arena) throws IOException {
        if (bytes > OFFSET_MASK || BlockFileLayout.fileBytes(bytes) > directory.freeBytes()) {
            throw new IOException("cannot reserve " + bytes + " bytes of shared memory in " + directory.path() + ": "
                    + directory.room() + "; make room, or give another directory with " + SciKeys.ROOT
                    + ".directory");
        }
        return create(bytes, arena);
    }

    private MemorySegment create(long bytes, Arena arena) throws IOException {
        freeStranded();
        SharedBlock block = bytes <= Slab.MAX_BLOCK_BYTES ? slabs.take(bytes, arena) : ownFile(bytes, arena);
        synchronized (this) {
            entering.put(block.memory().address(), block);
        }
        return block.memory();
    }

    /** Frees blocks whose arena was closed before the session announced them, because it failed in between. */
    private void freeStranded() {
        List<SharedBlock> stranded = new ArrayList<>();
        synchronized (this) {
            entering.values().removeIf(block -> !block.memory().scope().isAlive() && stranded.add(block));
        }
        for (SharedBlock block : stranded) {
            if (block.slab() == null) {
                files.delete(block.file().number()); // No peer knows it, and its memory is gone.
            } else {
                slabs.giveBack(block.slab(), block);
            }
        }
    }

    private SharedBlock ownFile(long bytes, Arena arena) throws IOException {
        int number = files.takeNumber();
        try {
            MemorySegment all = SegmentFile.create(files.path(number), BlockFileLayout.fileBytes(bytes), arena);
            BlockFileLayout.begin(all, bytes);
            return new SharedBlock(
                    new BlockFile(number, all, BlockFileLayout.CONTROL_BYTES), null, 0, all.asSlice(0, bytes));
        } catch (IOException | RuntimeException | Error e) {
            files.giveBack(number);
            throw e;
        }
    }

    @Override
    public synchronized void added(Region region) {
        SharedBlock block = entering.remove(region.base());
        if (block != null) {
            int index = region.number();
            @Nullable SharedBlock[] known = byRegion;
            if (index >= known.length) {
                known = Arrays.copyOf(known, Math.max(LEAST_REGIONS, 2 * index));
            }
            known[index] = block;
            byRegion = known;
        }
    }

    @Override
    public void removed(Region region, long deadlineNs) {
        SharedBlock block = takeOut(region.number());
        if (block == null) {
            return;
        }
        Slab slab = block.slab();
        if (slab == null) {
            block.file().free();
            boolean _ = block.revokeExports(deadlineNs);
            files.delete(block.file().number());
        } else if (block.revokeExports(deadlineNs)) {
            synchronized (this) {
                leaving.put(region, block);
            }
        } else {
            slabs.spoil(slab);
        }
    }

    @Override
    public void freed(Region region) {
        SharedBlock block;
        synchronized (this) {
            block = leaving.remove(region);
        }
        if (block != null && block.slab() != null) {
            slabs.giveBack(block.slab(), block);
        }
    }

    private synchronized @Nullable SharedBlock takeOut(int index) {
        SharedBlock block = find(index);
        if (block != null) {
            @Nullable SharedBlock[] known = byRegion;
            known[index] = null;
            byRegion = known;
        }
        return block;
    }

    private @Nullable SharedBlock find(int index) {
        SharedBlock[] known = byRegion;
        return index < known.length ? known[index] : null;
    }

    /** The block of a region; null if the region is not a shared block. */
    @Nullable
    SharedBlock block(Region region) {
        SharedBlock block = find(region.number());
        return block != null && block.memory().address() == region.base() ? block : null;
    }

    /**
     * The place by which peers find that memory: a negative number with file number and offset; 0 if it is not in a
     * shared block. Any thread.
     */
    public long place(long address, long bytes) {
        Region region = memory.find(address);
        if (region == null || region.kind() != Region.Kind.SHARED || !region.contains(address, bytes)) {
            return 0;
        }
        SharedBlock block = block(region);
        return block == null
                ? 0
                : Long.MIN_VALUE
                        | (long) block.file().number() << OFFSET_BITS
                        | block.offset() + address - region.base();
    }

    /** The number of the file in a place. */
    static int number(long place) {
        return (int) ((place & Long.MAX_VALUE) >>> OFFSET_BITS);
    }

    /** The offset in that file. */
    static long offset(long place) {
        return place & OFFSET_MASK;
    }

    /** Marks all files as freed, so that peers unmap them, and deletes them. */
    @Override
    public void close() {
        memory.forget(this);
        for (SharedBlock block : byRegion) {
            if (block != null && block.slab() == null) {
                block.file().free();
                files.delete(block.file().number());
            }
        }
        byRegion = new SharedBlock[0];
        slabs.close();
    }
}
