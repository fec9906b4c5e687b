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
 * The regions of a session's memory in the order of their addresses, and who wants to hear of them.
 *
 * <p>Threading: thread-safe. Who looks an address up reads an array that is never changed once it is seen; regions are as long
 * as many blocks, so that copying it for each of them costs little.
 */
public final class RegionTable implements SessionMemory {
    private volatile Region[] sorted = {};
    private final BitSet numbers = new BitSet();
    private final List<RegionListener> listeners = new CopyOnWriteArrayList<>();

    /** Held while the table changes and listeners hear of a new region. */
    private final ReentrantLock changing = new ReentrantLock();

    /** Read-locked while listeners hear of the end of regions, which may take a while. */
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

    /** Adds a region and tells of it. Nobody else has the memory yet. */
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

    /** How many regions begin below that address. */
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

    /** Tells that regions are about to be freed, and takes them out. */
    void remove(Collection<Region> regions, long deadlineNs) {
        if (regions.isEmpty()) {
            return;
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
        } finally {
            changing.unlock();
        }
    }

    /** Tells that regions which were removed have been freed. */
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
                listener.added(region);
            }
        } finally {
            changing.unlock();
        }
    }

    @Override
    public void forget(RegionListener listener) {
        telling.writeLock().lock(); // whoever is being told of the end of one has been, then
        try {
            listeners.remove(listener);
        } finally {
            telling.writeLock().unlock();
        }
        changing.lock();
        try {
            listeners.remove(listener); // and whoever is being told of a new one
        } finally {
            changing.unlock();
        }
    }
}
