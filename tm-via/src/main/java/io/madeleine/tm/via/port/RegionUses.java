package io.madeleine.tm.via.port;

import io.madeleine.pmm.spi.Region;
import io.madeleine.pmm.spi.RegionListener;
import io.madeleine.pmm.spi.SessionMemory;
import io.madeleine.tm.via.ffi.FabricException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The session's memory, as far as the network uses it. A region that is about to be freed is not used any more, and is
 * freed only when the last use has ended, or when its deadline has come.
 *
 * <p>Threading: thread-safe; {@link #begin} allocates nothing.
 */
public final class RegionUses implements RegionListener {
    /** A thread that never runs: what it may access, any thread may. */
    private static final Thread ANY_THREAD = Thread.ofPlatform().unstarted(() -> {});

    /** The uses of one region, or of all native memory that is not the session's. */
    public final class Use {
        private final @Nullable Region region;
        private final KeptRegistrations.@Nullable Cells sources;

        /** All cells of the region. */
        private final List<KeptRegistrations.Cells> cells = new ArrayList<>();

        private final AtomicInteger count = new AtomicInteger();
        private volatile boolean removed;

        private Use(Region region) {
            this.region = region;
            this.sources = keepsAny() ? kept.sources().cells(region) : null;
            if (sources != null) {
                cells.add(sources);
            }
        }

        /** Of native memory that is not the session's. */
        private Use() {
            this.region = null;
            this.sources = null;
        }

        /** The region of which registrations are kept; null if they are not, or the memory is not the session's. */
        @Nullable
        Region keptRegion() {
            return sources == null ? null : region;
        }

        private boolean isOf(Region other) {
            return region != null && region.base() == other.base();
        }

        /** How many bytes from an address on one registration contains. */
        public long bytesTogether(long address) {
            return sources == null ? Long.MAX_VALUE : sources.bytesLeft(address);
        }

        /** The cells for a peer that writes. */
        KeptRegistrations.Cells newTargets(Region of) {
            KeptRegistrations.Cells made = kept.targets().cells(of);
            synchronized (cells) {
                cells.add(made);
            }
            return made;
        }

        /** Ends the registrations for a peer. */
        void endTargets(KeptRegistrations.Cells targets) {
            synchronized (cells) {
                cells.remove(targets);
            }
            kept.targets().remove(targets);
        }

        /** Begins to use the registration of a peer's cell. */
        KeptRegistration target(KeptRegistrations.Cells targets, long address) {
            kept.mayFail().run();
            return kept.targets().use(targets, address);
        }

        /** Registers memory for one write of a peer. */
        KeptRegistration target(long address, long bytes) {
            kept.mayFail().run();
            return kept.targets().useOnce(address, bytes);
        }

        /**
         * Registers the memory at an address for own writes that read it, and reads that write it.
         *
         * @param bytes how many bytes, at most {@link #bytesTogether}
         * @throws FabricException if that is impossible, perhaps for the moment only: the caller then copies
         */
        public KeptRegistration source(long address, long bytes) {
            kept.mayFail().run();
            return sources == null
                    ? kept.sources().useOnce(address, bytes)
                    : kept.sources().use(sources, address);
        }

        private void endRegistrations() {
            synchronized (cells) {
                cells.forEach(each -> (each == sources ? kept.sources() : kept.targets()).remove(each));
                cells.clear();
            }
        }

        /** Ends one use. */
        public void end() {
            count.decrementAndGet();
            all.decrementAndGet();
        }

        private boolean begin() {
            all.incrementAndGet();
            count.incrementAndGet();
            if (removed) {
                end();
                return false;
            }
            return true;
        }
    }

    private final SessionMemory memory;
    private final AtomicInteger all = new AtomicInteger();
    private volatile @Nullable Use[] uses = new Use[16];

    /**
     * The registrations.
     *
     * @param isOn whether any are kept when their use has ended
     * @param targets of memory that peers write
     * @param sources of memory that own writes read
     * @param mayFail called before each use; throws if it shall fail, for tests
     */
    record Kept(boolean isOn, KeptRegistrations targets, KeptRegistrations sources, Runnable mayFail) {}

    private final Kept kept;

    /** The uses of native memory that is not the session's; null if nobody has promised that it is not freed. */
    private final @Nullable Use trusted;

    /**
     * Listens to the session's memory.
     *
     * @param trustsNative whether other native memory may be used in place too
     */
    RegionUses(SessionMemory memory, Kept kept, boolean trustsNative) {
        this.memory = memory;
        this.kept = kept;
        this.trusted = trustsNative ? new Use() : null;
        memory.listen(this);
    }

    /**
     * Begins to use native memory where it lies; null if that is not allowed: it is not the session's and not trusted,
     * or about to be freed. Call {@link Use#end} once.
     *
     * @param segment the memory
     * @param offset where in it the use begins
     */
    public @Nullable Use begin(MemorySegment segment, long offset, long bytes) {
        long address = segment.address() + offset;
        Region region = memory.find(address);
        if (region == null) {
            return trusted != null && segment.scope().isAlive() && segment.isAccessibleBy(ANY_THREAD) && trusted.begin()
                    ? trusted
                    : null;
        }
        if (!region.contains(address, bytes)) {
            return null;
        }
        @Nullable Use[] now = uses;
        Use use = region.number() < now.length ? now[region.number()] : null;
        return use != null && use.isOf(region) && use.begin() ? use : null;
    }

    /**
     * Whether registrations of the session's memory are kept, in cells of one size. Otherwise each use registers just
     * what it uses.
     */
    public boolean keepsAny() {
        return kept.isOn();
    }

    /**
     * Makes a buffer of a link. If it cannot be registered, ends the registrations that are only kept, which may have
     * used up what this process may lock, and tries again.
     *
     * @throws FabricException if it cannot be registered all the same
     */
    public Slab makingRoom(Supplier<Slab> making) {
        try {
            return making.get();
        } catch (FabricException e) {
            boolean any = kept.targets().endUnused();
            any |= kept.sources().endUnused();
            if (!any) {
                throw e;
            }
            return making.get();
        }
    }

    /** Whether any memory is in use. */
    public boolean isAny() {
        return all.get() > 0;
    }

    @Override
    public synchronized void added(Region region) {
        @Nullable Use[] now = uses;
        if (region.number() >= now.length) {
            now = Arrays.copyOf(now, Math.max(2 * now.length, region.number() + 1));
        }
        now[region.number()] = new Use(region);
        uses = now;
    }

    @Override
    public void removed(Region region, long deadlineNs) {
        Use use = region.number() < uses.length ? uses[region.number()] : null;
        if (use == null || !use.isOf(region)) {
            return;
        }
        use.removed = true;
        while (use.count.get() > 0 && System.nanoTime() - deadlineNs < 0) {
            Thread.yield();
        }
        use.endRegistrations();
    }

    /** Stops listening, and ends the registrations that nobody uses; the others end with their uses. */
    public void close() {
        memory.forget(this);
        for (Use use : uses) {
            if (use != null) {
                use.endRegistrations();
            }
        }
    }
}
