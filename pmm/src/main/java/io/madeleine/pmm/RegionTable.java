package io.madeleine.pmm;

import io.madeleine.pmm.spi.Region;
import io.madeleine.pmm.spi.RegionListener;
import io.madeleine.pmm.spi.SessionMemory;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import org.jspecify.annotations.Nullable;

/**
 * The regions of a session's memory, sorted by address, and the listeners that hear of them.
 *
 * <p>Threading: thread-safe. A lookup reads an immutable array. Adding a region copies the array; this is cheap per
 * block, since many blocks share a region.
 */
public final class RegionTable implements SessionMemory {
    private volatile Region[] sorted = {};
    private final BitSet numbers = new BitSet();

    /** The numbers of the regions that are being removed: listeners hear of that while the table still has them. */
    private final BitSet leaving = new BitSet();

    private final List<RegionListener> listeners = new CopyOnWriteArrayList<>();

    /** Held while the table changes and while listeners hear of a new region. */
    private final ReentrantLock changing = new ReentrantLock();

    /** Read-locked while listeners hear that regions are removed, which may take a while. */
    private final ReentrantReadWriteLock telling = new ReentrantReadWriteLock();

    /** A table without regions. */
    public RegionTable() {}

    @Override
    public @Nullable Region find(long address) {
        Region[] regions = sorted;
        int low = 0;
        int high = regions.length - 1;
        while (low <= high) {
            int middle = (low + high) >>> 1;
            Region region = regions[middle];
            if (address < region.base()) {
                high = middle - 1;
            } else if (address - region.base() < region.bytes()) {
                return region;
            } else {
                low = middle + 1;
            }
        }
        return null;
    }

    /** Adds a region and tells the listeners, before any other thread has the memory. */
    Region add(MemorySegment memory, Region.Kind kind, String remark) {
        changing.lock();
        try {
            int number = numbers.nextClearBit(0);
            Region added = new Region(number, memory, kind, remark);
            Region[] old = sorted;
            int place = placeOf(added.base(), old);
            Region[] longer = Arrays.copyOf(old, old.length + 1);
            System.arraycopy(old, place, longer, place + 1, old.length - place);
            longer[place] = added;
            numbers.set(number);
            sorted = longer;
            for (RegionListener listener : listeners) {
                listener.added(added);
            }
            return added;
        } finally {
            changing.unlock();
        }
    }

    /** The number of regions that begin below this address. */
    private static int placeOf(long base, Region[] regions) {
        int low = 0;
        int high = regions.length;
        while (low < high) {
            int middle = (low + high) >>> 1;
            if (regions[middle].base() < base) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low;
    }

    /** Tells the listeners that regions are about to be freed, and removes the regions. */
    void remove(Collection<Region> regions, long deadlineNs) {
        if (regions.isEmpty()) {
            return;
        }
        changing.lock();
        try {
            regions.forEach(region -> leaving.set(region.number())); // a listener that comes now is not told of them
        } finally {
            changing.unlock();
        }
        telling.readLock().lock();
        try {
            for (RegionListener listener : listeners) {
                for (Region region : regions) {
                    listener.removed(region, deadlineNs);
                }
            }
        } finally {
            telling.readLock().unlock();
        }
        changing.lock();
        try {
            BitSet gone = new BitSet();
            regions.forEach(region -> gone.set(region.number()));
            Region[] left = new Region[sorted.length];
            int count = 0;
            for (Region region : sorted) {
                if (!gone.get(region.number())) {
                    left[count++] = region;
                }
            }
            sorted = Arrays.copyOf(left, count);
            numbers.andNot(gone);
            leaving.andNot(gone);
        } finally {
            changing.unlock();
        }
    }

    /** Tells the listeners that removed regions have been freed. */
    void tellFreed(Collection<Region> regions) {
        telling.readLock().lock();
        try {
            for (RegionListener listener : listeners) {
                regions.forEach(listener::freed);
            }
        } finally {
            telling.readLock().unlock();
        }
    }

    @Override
    public void listen(RegionListener listener) {
        changing.lock();
        try {
            listeners.add(listener);
            for (Region region : sorted) {
                if (!leaving.get(region.number())) {
                    listener.added(region);
                }
            }
        } finally {
            changing.unlock();
        }
    }

    @Override
    public void forget(RegionListener listener) {
        telling.writeLock().lock(); // waits for listener calls about removed regions
        try {
            listeners.remove(listener);
        } finally {
            telling.writeLock().unlock();
        }
        changing.lock();
        try {
            listeners.remove(listener); // waits for listener calls about new regions
        } finally {
            changing.unlock();
        }
    }
}
