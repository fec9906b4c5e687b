package io.madeleine.tm.sci;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Memory of this process in files that its peers can map: blocks in it are lent by number and offset in place of an address
 * (Open-MX lends by region and offset likewise), and no permission is needed to read them.
 *
 * <p>Threading: thread-safe.
 */
final class SharedBlocks {
    /** How many there can be. */
    static final int MAX_BLOCKS = 1 << 16;

    /** All of a block's memory is taken at once, since a file that only seems long kills who touches it: 64 MiB in some 30 ms. */
    private static final long MAX_BLOCK_BYTES = 64 << 20;

    private static final int OFFSET_BITS = 40;
    private static final long OFFSET_MASK = (1L << OFFSET_BITS) - 1;

    private final @Nullable SessionDirectory directory;
    private final long minBytes;
    private int count;

    /** Those that there are, in the order of their addresses. */
    private volatile Table table = new Table(new long[0], new long[0], new long[0]);

    /** Never changed once it is seen. */
    private static final class Table {
        final long[] begins;
        final long[] ends;
        final long[] numbers;

        Table(long[] begins, long[] ends, long[] numbers) {
            this.begins = begins;
            this.ends = ends;
            this.numbers = numbers;
        }
    }

    private SharedBlocks(@Nullable SessionDirectory directory, long minBytes) {
        this.directory = directory;
        this.minBytes = minBytes;
    }

    /** Files in that directory, for blocks of so many bytes or more. */
    static SharedBlocks in(SessionDirectory directory, long minBytes) {
        return new SharedBlocks(directory, minBytes);
    }

    static SharedBlocks none() {
        return new SharedBlocks(null, Long.MAX_VALUE);
    }

    /** As {@link io.madeleine.pmm.spi.Adapter#allocate} says; large ones only, and where there is room for much more. */
    synchronized Optional<MemorySegment> allocate(long bytes, Arena arena) {
        if (directory == null
                || bytes < minBytes
                || bytes > Math.min(MAX_BLOCK_BYTES, directory.bytesToSpare())
                || count == MAX_BLOCKS) {
            return Optional.empty();
        }
        try {
            MemorySegment memory = SegmentFile.create(
                    directory.blockFile(directory.stem(), count), Words.align(bytes, CellLayout.PAGE_BYTES), arena);
            enter(memory.address(), memory.byteSize(), count++);
            return Optional.of(memory.asSlice(0, bytes));
        } catch (IOException _) {
            return Optional.empty(); // the room has gone to somebody else
        }
    }

    private void enter(long address, long bytes, int number) {
        Table old = table;
        int place = -Arrays.binarySearch(old.begins, address) - 1;
        table = new Table(
                inserted(old.begins, place, address),
                inserted(old.ends, place, address + bytes),
                inserted(old.numbers, place, number));
    }

    private static long[] inserted(long[] values, int place, long value) {
        long[] longer = Arrays.copyOf(values, values.length + 1);
        System.arraycopy(values, place, longer, place + 1, values.length - place);
        longer[place] = value;
        return longer;
    }

    /** Where peers find that memory, a negative number, or 0 if they cannot. */
    long place(long address, long bytes) {
        Table known = table;
        int found = Arrays.binarySearch(known.begins, address);
        int index = found >= 0 ? found : -found - 2;
        return index >= 0 && address + bytes <= known.ends[index]
                ? Long.MIN_VALUE | known.numbers[index] << OFFSET_BITS | address - known.begins[index]
                : 0;
    }

    /** The number of the block that a place is in. */
    static int number(long place) {
        return (int) ((place & Long.MAX_VALUE) >>> OFFSET_BITS);
    }

    /** The offset in that block. */
    static long offset(long place) {
        return place & OFFSET_MASK;
    }
}
