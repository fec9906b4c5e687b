package io.madeleine.tm.via;

import io.madeleine.pmm.spi.ProgressSource;
import io.madeleine.pmm.spi.Reactor;
import java.nio.channels.SelectionKey;
import org.jspecify.annotations.Nullable;

/**
 * Polls an adapter, and puts it to sleep. Where the provider has a descriptor to wait on, an event of the network ends
 * the sleep. Where it has none, sleeps are short: an eighth of the time since the last event, within bounds.
 *
 * <p>Threading: as {@link ProgressSource}; any thread may call {@link #wake}.
 */
final class ViaProgress implements ProgressSource, AutoCloseable {
    private static final long SHORTEST_SLEEP_NS = 50_000;
    private static final long LONGEST_BLIND_SLEEP_NS = 4_000_000;
    private static final int SHARE = 8;

    private final ViaAdapter adapter;
    private final Reactor reactor;
    private final Reactor.@Nullable Registration registration;
    private volatile boolean armed;
    private long lastEventNs = System.nanoTime();

    ViaProgress(ViaAdapter adapter, Reactor reactor) {
        this.adapter = adapter;
        this.reactor = reactor;
        int descriptor = adapter.port().descriptor();
        this.registration = descriptor < 0
                ? null
                : reactor.registerDescriptor(
                        descriptor, SelectionKey.OP_READ, _ -> {}); // the poll that follows reads the completions
    }

    @Override
    public int poll(long nowNs) {
        int work = adapter.poll(nowNs, nowNs - lastEventNs);
        if (work > 0) {
            lastEventNs = nowNs;
        }
        return work;
    }

    void wake() {
        if (armed) {
            reactor.wakeUp();
        }
    }

    @Override
    public boolean armForBlocking() {
        armed = true;
        return !adapter.hasWork() && (registration == null || adapter.port().mayWait());
    }

    @Override
    public void disarm() {
        armed = false;
    }

    @Override
    public long longestSleepNs() {
        long nowNs = System.nanoTime();
        long dueNs = adapter.untilDueNs(nowNs);
        return registration == null
                ? Math.min(dueNs, Math.clamp((nowNs - lastEventNs) / SHARE, SHORTEST_SLEEP_NS, LONGEST_BLIND_SLEEP_NS))
                : dueNs;
    }

    @Override
    public void close() {
        Reactor.Registration watched = registration;
        if (watched != null) {
            watched.cancel();
        }
    }
}
