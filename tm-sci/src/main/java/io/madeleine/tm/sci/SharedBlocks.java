package io.madeleine.tm.sci;

import io.madeleine.pmm.spi.MemorySource;
import io.madeleine.pmm.spi.Region;
import io.madeleine.pmm.spi.RegionListener;
import io.madeleine.pmm.spi.SessionMemory;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Memory of this process in files that its peers can map: what is in it is lent by file and offset in place of an address (Open-MX
 * lends by region and offset likewise), and no permission is needed to read it. Large blocks are files of their own, smaller ones
 * are cut out of {@linkplain Slabs slabs}.
 *
 * <p>Threading: thread-safe; a block is found without a lock.
 */
final class SharedBlocks implements MemorySource, RegionListener, AutoCloseable {
    /** All of a file's memory is taken at once, since a file that only seems long kills who touches it: 64 MiB in some 30 ms. */
    private static final long MAX_BLOCK_BYTES = 64 << 20;

    private static final int OFFSET_BITS = 40;
    private static final long OFFSET_MASK = (1L << OFFSET_BITS) - 1;
    private static final int LEAST_REGIONS = 16;

    private final SessionDirectory directory;
    private final SessionMemory memory;
    private final long minBytes;
    private final BlockFiles files;
    private final Slabs slabs;

    /** Those of which the session has not told yet, by address. */
    private final Map<Long, SharedBlock> entering = new HashMap<>();

    /** By the number of their region; never changed once it is seen. */
    private volatile @Nullable SharedBlock[] byRegion = {};

    /** Those of slabs that nobody is to use any more and whose memory is not freed yet. */
    private final Map<Region, SharedBlock> leaving = new HashMap<>();

    /**
     * Files in that directory.
     *
     * @param minBytes from which size on blocks of messages are there; {@link Long#MAX_VALUE} for none
     */
    SharedBlocks(SessionDirectory directory, SessionMemory memory, long minBytes) {
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

    /** Not the smallest, not too many of those that are no files of their own, and where there is room for much more. */
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
            return Optional.empty(); // the room has gone to somebody else
        }
    }

    @Override
    public MemorySegment allocateShared(long bytes, Arena arena) throws IOException {
        if (bytes > OFFSET_MASK || BlockLayout.fileBytes(bytes) > directory.freeBytes()) {
            throw new IOException(bytes + " bytes of shared memory were asked for in " + directory.path() + ", and "
                    + directory.room() + "; make room, or give another place with " + SciConfig.ROOT + ".directory");
        }
        return create(bytes, arena);
    }

    private MemorySegment create(long bytes, Arena arena) throws IOException {
        SharedBlock block = bytes <= Slab.MAX_BLOCK_BYTES ? slabs.take(bytes, arena) : ownFile(bytes, arena);
        synchronized (this) {
            entering.put(block.memory().address(), block);
        }
        return block.memory();
    }

    private SharedBlock ownFile(long bytes, Arena arena) throws IOException {
        int number = files.takeNumber();
        try {
            MemorySegment all = SegmentFile.create(files.path(number), BlockLayout.fileBytes(bytes), arena);
            BlockLayout.begin(all, bytes);
            return new SharedBlock(
                    new BlockFile(number, all, BlockLayout.CONTROL_BYTES), null, 0, all.asSlice(0, bytes));
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
            SharedBlock[] known = byRegion;
            SharedBlock[] wider =
                    index < known.length ? known.clone() : Arrays.copyOf(known, Math.max(LEAST_REGIONS, 2 * index));
            wider[index] = block;
            byRegion = wider;
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
            SharedBlock[] changed = byRegion.clone();
            changed[index] = null;
            byRegion = changed;
        }
        return block;
    }

    private @Nullable SharedBlock find(int index) {
        SharedBlock[] known = byRegion;
        return index < known.length ? known[index] : null;
    }

    /** The block that a region is, or null. */
    @Nullable
    SharedBlock block(Region region) {
        SharedBlock block = find(region.number());
        return block != null && block.memory().address() == region.base() ? block : null;
    }

    /** Where peers find that memory, a negative number, or 0 if they cannot. */
    long place(long address, long bytes) {
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

    /** The number of the file that a place is in. */
    static int number(long place) {
        return (int) ((place & Long.MAX_VALUE) >>> OFFSET_BITS);
    }

    /** The offset in that file. */
    static long offset(long place) {
        return place & OFFSET_MASK;
    }

    /** Tells those who have them mapped that they are no more; the files go with the directory. */
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
