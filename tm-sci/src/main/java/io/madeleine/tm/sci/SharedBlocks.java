package io.madeleine.tm.sci;

import io.madeleine.pmm.spi.MemorySource;
import io.madeleine.pmm.spi.Region;
import io.madeleine.pmm.spi.RegionListener;
import io.madeleine.pmm.spi.SessionMemory;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Memory of this process in files that its peers can map: blocks in it are lent by number and offset in place of an address
 * (Open-MX lends by region and offset likewise), and no permission is needed to read them.
 *
 * <p>Threading: thread-safe; a block is found without a lock.
 */
final class SharedBlocks implements MemorySource, RegionListener, AutoCloseable {
    /** How many there can be at a time. */
    static final int MAX_BLOCKS = 1 << 16;

    /**
     * From so many on, blocks of less than {@link #LARGE_BYTES} stay ordinary: each shared one is a file and a mapping at either
     * end, of which a process has some 65,000.
     */
    static final int MANY_BLOCKS = 1024;

    static final int LARGE_BYTES = 64 << 10;

    /** All of a block's memory is taken at once, since a file that only seems long kills who touches it: 64 MiB in some 30 ms. */
    private static final long MAX_BLOCK_BYTES = 64 << 20;

    private static final int OFFSET_BITS = 40;
    private static final long OFFSET_MASK = (1L << OFFSET_BITS) - 1;

    private final SessionDirectory directory;
    private final SessionMemory memory;
    private final long minBytes;

    private final BitSet numbers = new BitSet();

    /** Those of which the session has not told yet, by address. */
    private final Map<Long, Block> entering = new HashMap<>();

    /** By the number of their region; never changed once it is seen. */
    private volatile @Nullable Block[] byRegion = {};

    /** One of them: its number, all of its file as this process has it mapped, and which of its exports are taken. */
    record Block(int number, MemorySegment file, BitSet exports) {
        /** Takes an export; -1 if there is none left. */
        int takeExport() {
            synchronized (exports) {
                int free = exports.nextClearBit(0);
                if (free == BlockLayout.EXPORTS) {
                    return -1;
                }
                exports.set(free);
                return free;
            }
        }

        void giveBack(int export) {
            synchronized (exports) {
                exports.clear(export);
            }
        }
    }

    /**
     * Files in that directory.
     *
     * @param minBytes from which size on blocks of messages are there; {@link Long#MAX_VALUE} for none
     */
    SharedBlocks(SessionDirectory directory, SessionMemory memory, long minBytes) {
        this.directory = directory;
        this.memory = memory;
        this.minBytes = minBytes;
        memory.listen(this);
    }

    /** Large ones only, not too many smaller ones among them, and where there is room for much more. */
    @Override
    public Optional<MemorySegment> allocate(long bytes, Arena arena) {
        if (bytes < minBytes
                || bytes < LARGE_BYTES && areMany()
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
        int number = takeNumber();
        MemorySegment file;
        try {
            file = SegmentFile.create(
                    directory.blockFile(directory.stem(), number), BlockLayout.fileBytes(bytes), arena);
        } catch (IOException | RuntimeException | Error e) {
            giveBack(number);
            throw e;
        }
        BlockLayout.begin(file, bytes);
        synchronized (this) {
            entering.put(file.address(), new Block(number, file, new BitSet()));
        }
        return file.asSlice(0, bytes);
    }

    private synchronized boolean areMany() {
        return numbers.cardinality() >= MANY_BLOCKS;
    }

    private synchronized int takeNumber() throws IOException {
        int number = numbers.nextClearBit(0);
        if (number == MAX_BLOCKS) {
            throw new IOException("there are " + MAX_BLOCKS + " shared blocks already, as many as there can be");
        }
        numbers.set(number);
        return number;
    }

    private synchronized void giveBack(int number) {
        numbers.clear(number);
    }

    @Override
    public synchronized void added(Region region) {
        Block block = entering.remove(region.base());
        if (block != null) {
            int index = region.number();
            Block[] wider = Arrays.copyOf(byRegion, Math.max(index + 1, byRegion.length));
            wider[index] = block;
            byRegion = wider;
        }
    }

    @Override
    public void removed(Region region, long deadlineNs) {
        Block block = takeOut(region.number());
        if (block != null) {
            remove(block, deadlineNs);
            giveBack(block.number);
        }
    }

    private synchronized @Nullable Block takeOut(int index) {
        Block block = find(index);
        if (block != null) {
            Block[] changed = byRegion.clone();
            changed[index] = null;
            byRegion = changed;
        }
        return block;
    }

    /** Revokes and frees it for its peers, and waits for those that are just at it. */
    private void remove(Block block, long deadlineNs) {
        try {
            BlockLayout.free(block.file);
            CutMemory.settle();
        } catch (InternalError _) {
            // cut short: whoever has it mapped finds out
        }
        for (int export = 0; export < BlockLayout.EXPORTS; export++) {
            boolean _ = SciExport.revoke(block, export, deadlineNs);
        }
        try {
            Files.deleteIfExists(directory.blockFile(directory.stem(), block.number));
        } catch (IOException _) {
            // it goes with the directory
        }
    }

    private @Nullable Block find(int index) {
        Block[] known = byRegion;
        return index < known.length ? known[index] : null;
    }

    /** The block that a region is, or null. */
    @Nullable
    Block block(Region region) {
        Block block = find(region.number());
        return block != null && block.file.address() == region.base() ? block : null;
    }

    /** Where peers find that memory, a negative number, or 0 if they cannot. */
    long place(long address, long bytes) {
        Region region = memory.find(address);
        if (region == null || region.kind() != Region.Kind.SHARED || !region.contains(address, bytes)) {
            return 0;
        }
        Block block = block(region);
        return block != null ? Long.MIN_VALUE | (long) block.number << OFFSET_BITS | address - region.base() : 0;
    }

    /** The number of the block that a place is in. */
    static int number(long place) {
        return (int) ((place & Long.MAX_VALUE) >>> OFFSET_BITS);
    }

    /** The offset in that block. */
    static long offset(long place) {
        return place & OFFSET_MASK;
    }

    /** Tells those who have them mapped that they are no more; the files go with the directory. */
    @Override
    public void close() {
        memory.forget(this);
        for (int index = 0; index < byRegion.length; index++) {
            Block block = takeOut(index);
            if (block != null) {
                remove(block, System.nanoTime());
            }
        }
    }
}
