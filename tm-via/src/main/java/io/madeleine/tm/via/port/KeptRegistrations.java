package io.madeleine.tm.via.port;

import io.madeleine.pmm.SpinLock;
import io.madeleine.pmm.spi.Region;
import io.madeleine.tm.via.ffi.FabricException;
import io.madeleine.tm.via.ffi.Registration;
import org.jspecify.annotations.Nullable;

/**
 * Registrations of the session's memory that are kept when their use has ended, since to register pins pages, which on
 * hardware takes longer than to copy them. The unit is a cell: a region is divided into cells of one size, each of
 * which is registered as a whole when it is first used. If the kept ones exceed a bound, those that have not been used
 * for the longest time end; a registration that fails makes all unused ones end, and is tried once more.
 *
 * <p>While a registration is kept, the peer that had its key can access the cell.
 *
 * <p>Threading: thread-safe; {@link #use} allocates nothing for a cell that is registered.
 */
final class KeptRegistrations {
    /** Registers memory. */
    @FunctionalInterface
    interface Registrar {
        /**
         * Registers.
         *
         * @throws FabricException if that is impossible, perhaps for the moment only
         */
        Registration register(long address, long bytes);
    }

    /** The cells of one region. */
    final class Cells {
        private final Region region;
        private final @Nullable KeptRegistration[] cells;

        private Cells(Region region) {
            this.region = region;
            this.cells = new KeptRegistration[Math.toIntExact((region.bytes() + cellBytes - 1) / cellBytes)];
        }

        /** How many bytes there are from an address to the end of its cell. */
        long bytesLeft(long address) {
            return cellBytes - (address - region.base()) % cellBytes;
        }
    }

    private final Registrar registrar;
    private final int cellBytes;
    private final long mostBytes;
    private final int mostCount;
    private final SpinLock lock = new SpinLock();

    /** The end of the ring of all kept registrations: its next one is the newest, its previous one the oldest. */
    private final KeptRegistration end = new KeptRegistration(this);

    private long bytes;
    private int count;

    /**
     * Makes an empty cache.
     *
     * @param cellBytes the size of a cell
     * @param mostBytes how many bytes may be registered though nobody uses them
     * @param mostCount how many registrations may be
     */
    KeptRegistrations(Registrar registrar, int cellBytes, long mostBytes, int mostCount) {
        this.registrar = registrar;
        this.cellBytes = cellBytes;
        this.mostBytes = mostBytes;
        this.mostCount = mostCount;
    }

    /** The cells of a new region. */
    Cells cells(Region region) {
        return new Cells(region);
    }

    /**
     * Begins to use the registration of the cell that contains this address; {@link KeptRegistration#endUse} follows.
     *
     * @throws FabricException if it cannot be registered
     */
    KeptRegistration use(Cells of, long address) {
        int number = (int) ((address - of.region.base()) / cellBytes);
        lock.lock();
        try {
            KeptRegistration found = of.cells[number];
            if (found == null) {
                found = register(of, number);
            } else {
                found.unlink();
            }
            found.linkAfter(end);
            found.uses++;
            return found;
        } finally {
            lock.unlock();
        }
    }

    /**
     * Registers memory that is no region's for one use, which {@link KeptRegistration#endUse} ends.
     *
     * @throws FabricException if it cannot be registered
     */
    KeptRegistration useOnce(long base, long length) {
        KeptRegistration made = new KeptRegistration(this, base, length, registrar.register(base, length));
        made.uses = 1;
        made.isStale = true;
        return made;
    }

    private KeptRegistration register(Cells of, int number) {
        long base = of.region.base() + (long) number * cellBytes;
        long length = Math.min(cellBytes, of.region.base() + of.region.bytes() - base);
        makeRoom(mostBytes - length, mostCount - 1);
        Registration made;
        try {
            made = registrar.register(base, length);
        } catch (FabricException e) {
            if (!makeRoom(0, 0)) {
                throw e;
            }
            made = registrar.register(base, length);
        }
        KeptRegistration kept = new KeptRegistration(this, of.cells, number, base, length, made);
        of.cells[number] = kept;
        bytes += length;
        count++;
        return kept;
    }

    /** Ends unused registrations, the oldest first, until no more than this are left; returns whether any ended. */
    private boolean makeRoom(long leftBytes, int leftCount) {
        boolean any = false;
        KeptRegistration next = end.previous();
        while (next != end && (bytes > leftBytes || count > leftCount)) {
            KeptRegistration oldest = next;
            next = next.previous();
            if (oldest.uses == 0) {
                drop(oldest);
                any = true;
            }
        }
        return any;
    }

    /** Ends all unused registrations; returns whether any ended. */
    boolean endUnused() {
        lock.lock();
        try {
            return makeRoom(0, 0);
        } finally {
            lock.unlock();
        }
    }

    private void drop(KeptRegistration kept) {
        kept.unlink();
        kept.forget();
        bytes -= kept.bytes();
        count--;
        kept.closeRegistration();
    }

    void endUse(KeptRegistration kept) {
        lock.lock();
        try {
            kept.uses--;
            if (kept.uses == 0 && kept.isStale) {
                kept.closeRegistration();
            } else if (kept.uses == 0 && (bytes > mostBytes || count > mostCount)) {
                drop(kept);
            }
        } finally {
            lock.unlock();
        }
    }

    /** Ends the registrations of a region; those still in use end with their use. */
    void remove(Cells of) {
        lock.lock();
        try {
            for (KeptRegistration kept : of.cells.clone()) {
                if (kept == null) {
                    continue;
                }
                if (kept.uses == 0) {
                    drop(kept);
                } else {
                    kept.unlink();
                    kept.forget();
                    bytes -= kept.bytes();
                    count--;
                    kept.isStale = true;
                }
            }
        } finally {
            lock.unlock();
        }
    }

    /** As {@link #count}, for the registrar, which is called under the lock. */
    int countUnlocked() {
        return count;
    }

    /** How many registrations there are. */
    int count() {
        lock.lock();
        try {
            return count;
        } finally {
            lock.unlock();
        }
    }
}
