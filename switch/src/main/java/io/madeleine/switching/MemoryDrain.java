package io.madeleine.switching;

import io.madeleine.pmm.ProgressEngine;
import io.madeleine.pmm.SessionArenas;
import io.madeleine.pmm.Waitable;
import io.madeleine.pmm.spi.Region;
import java.util.Collection;
import java.util.List;

/**
 * Waits until no message uses memory that is about to be freed. Messages keep no use counts; instead the thread that
 * frees memory inspects all messages in progress.
 *
 * <p>Threading: any number of threads; they drive the networks while they wait.
 */
public final class MemoryDrain implements SessionArenas.Drain {
    private static final long STEP_NS = 1_000_000;

    private final Collection<SwitchedChannel> channels;
    private final ProgressEngine engine;

    /** Creates a drain for the messages of these channels, which this engine drives. */
    public MemoryDrain(Collection<SwitchedChannel> channels, ProgressEngine engine) {
        this.channels = channels;
        this.engine = engine;
    }

    @Override
    public void awaitUnused(List<Region> regions, long deadlineNs) {
        Waitable nothing = new Waitable();
        while (isUsed(regions)) {
            long nowNs = System.nanoTime();
            if (deadlineNs - nowNs <= 0) {
                return;
            }
            engine.await(nothing, () -> false, Math.min(deadlineNs, nowNs + STEP_NS));
        }
    }

    private boolean isUsed(List<Region> regions) {
        for (SwitchedChannel channel : channels) {
            if (channel.uses(regions)) {
                return true;
            }
        }
        return false;
    }
}
