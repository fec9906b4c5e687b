package io.madeleine.tm.via.port;

import io.madeleine.pmm.spi.Region;
import io.madeleine.pmm.spi.RegionListener;
import io.madeleine.pmm.spi.SessionMemory;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * The session's memory, as far as the network uses it. A region that is about to be freed is not used any more, and is
 * freed only when the last use has ended, or when its deadline has come.
 *
 * <p>Threading: thread-safe; {@link #begin} allocates nothing.
 */
public final class RegionUses implements RegionListener {
    /** The uses of one region. */
    public final class Use {
        private final Region region;
        private final AtomicInteger count = new AtomicInteger();
        private volatile boolean removed;

        private Use(Region region) {
            this.region = region;
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

    /** Listens to the session's memory. */
    public RegionUses(SessionMemory memory) {
        this.memory = memory;
        memory.listen(this);
    }

    /** Begins to use memory; null if it is not the session's, or about to be freed. Call {@link Use#end} once. */
    public @Nullable Use begin(long address, long bytes) {
        Region region = memory.find(address);
        if (region == null || !region.contains(address, bytes)) {
            return null;
        }
        @Nullable Use[] now = uses;
        Use use = region.number() < now.length ? now[region.number()] : null;
        return use != null && use.region.base() == region.base() && use.begin() ? use : null;
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
        if (use == null || use.region.base() != region.base()) {
            return;
        }
        use.removed = true;
        while (use.count.get() > 0 && System.nanoTime() - deadlineNs < 0) {
            Thread.yield();
        }
    }

    /** Stops listening. */
    public void close() {
        memory.forget(this);
    }
}
