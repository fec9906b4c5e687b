package io.madeleine.tm.tcp.stream;

import io.madeleine.pmm.spi.ProgressSource;
import io.madeleine.pmm.spi.Reactor;
import io.madeleine.tm.tcp.reactor.LoopWatcher;
import io.madeleine.tm.tcp.reactor.NettyReactor;
import java.util.Arrays;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;

/**
 * The progress source of an adapter: it reads hot connections directly and leaves the others to the reactor.
 *
 * <p>Threading: {@link #poll}, {@link #armForBlocking}, {@link #rearm}, {@link #disarm} and {@link #heat} belong to
 * the leader, the rest is thread-safe.
 */
public final class TcpProgress implements ProgressSource {
    /** The interval at which a spinning engine polls the reactor: a select costs about a microsecond. */
    private static final long SELECT_NS = 25_000;

    /** With more connections than this, {@link #rearm} would take longer than a wake-up. */
    private static final int MOST_REARMED = 16;

    private final NettyReactor reactor;
    private final Reactor sessions;

    /** Not null if the session sleeps in a reactor other than {@link #reactor}. */
    private final @Nullable LoopWatcher watcher;

    private final Lingering lingering;
    private final Coalescing coalescing;

    private final CopyOnWriteArrayList<ConnectionPoller> list = new CopyOnWriteArrayList<>();
    private volatile ConnectionPoller[] pollers = {};
    private volatile boolean look;
    private volatile boolean armed;

    // owned by the leader
    private ConnectionPoller[] hot = new ConnectionPoller[4];
    private int hotCount;
    private long selectedNs;

    /**
     * Creates a progress source without connections.
     *
     * @param reactor the reactor where the connections are registered
     * @param sessions the reactor where the session sleeps
     * @param watcher waits in the loop of {@code reactor} if the session sleeps in another one; else null
     */
    public TcpProgress(
            NettyReactor reactor,
            Reactor sessions,
            @Nullable LoopWatcher watcher,
            Lingering lingering,
            Coalescing coalescing) {
        this.reactor = reactor;
        this.sessions = sessions;
        this.watcher = watcher;
        this.lingering = lingering;
        this.coalescing = coalescing;
    }

    public synchronized void add(ConnectionPoller poller) {
        list.add(poller);
        pollers = list.toArray(ConnectionPoller[]::new);
    }

    synchronized void remove(ConnectionPoller poller) {
        list.remove(poller);
        pollers = list.toArray(ConnectionPoller[]::new);
    }

    Lingering lingering() {
        return lingering;
    }

    Coalescing coalescing() {
        return coalescing;
    }

    /** Whether the calling thread is the leader and runs the loop. */
    boolean isLedHere() {
        return reactor.isLedHere();
    }

    boolean isArmed() {
        return armed;
    }

    /** Ends the session's sleep. */
    public void wakeSession() {
        sessions.wakeUp();
    }

    /** Has the leader check the connections that asked for it; ends its sleep. */
    void requestLook() {
        look = true;
        if (armed) {
            wakeSession();
        }
    }

    /** Has the leader read a connection in each round. */
    void heat(ConnectionPoller poller) {
        if (!poller.isHot()) {
            if (hotCount == hot.length) {
                hot = Arrays.copyOf(hot, 2 * hotCount);
            }
            hot[hotCount++] = poller;
        }
        poller.heat();
    }

    @Override
    public int poll(long nowNs) {
        coalescing.poll(nowNs);
        int work = look ? lookAround() : 0;
        for (int i = hotCount - 1; i >= 0; i--) {
            ConnectionPoller poller = hot[i];
            work += poller.pollHot();
            if (!poller.isHot()) {
                hot[i] = hot[--hotCount];
                hot[hotCount] = null;
            }
        }
        if (isSelectDue(nowNs)) {
            selectedNs = nowNs;
            work += reactor.poll();
        }
        return work;
    }

    private boolean isSelectDue(long nowNs) {
        if (watcher == null) {
            return nowNs - selectedNs >= SELECT_NS && hotCount < pollers.length;
        }
        return watcher.takeReady() || nowNs - selectedNs >= SELECT_NS; // no other thread runs the loop
    }

    private int lookAround() {
        look = false;
        int work = 0;
        boolean all = false;
        try {
            for (ConnectionPoller poller : pollers) {
                work += poller.attend();
            }
            all = true;
        } finally {
            if (!all) {
                look = true; // the connections behind the one that threw are still to be checked
            }
        }
        return work;
    }

    @Override
    public boolean armForBlocking() {
        armed = true;
        coalescing.flushAll();
        boolean found = look;
        for (ConnectionPoller poller : pollers) {
            found |= poller.arm();
        }
        if (watcher != null && !found) {
            watcher.arm();
        }
        return !found;
    }

    /**
     * Refuses while a connection is hot, or with so many connections that checking them takes longer than a wake-up.
     */
    @Override
    public boolean rearm() {
        ConnectionPoller[] open = pollers;
        if (watcher != null || look || hotCount > 0 || open.length > MOST_REARMED || !coalescing.isIdle()) {
            return false;
        }
        armed = true;
        for (ConnectionPoller poller : open) {
            if (!poller.rearm()) {
                return false;
            }
        }
        return !look;
    }

    @Override
    public void disarm() {
        armed = false;
        if (watcher != null) {
            watcher.disarm();
        }
        for (ConnectionPoller poller : pollers) {
            poller.disarm();
        }
    }
}
