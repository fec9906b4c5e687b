package io.madeleine.tm.tcp;

import io.madeleine.pmm.spi.ProgressSource;
import io.madeleine.pmm.spi.Reactor;
import java.util.Arrays;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;

/**
 * What the engine polls for an adapter: the hot connections are read directly, the others are left to the reactor.
 *
 * <p>Threading: {@link #poll}, {@link #armForBlocking}, {@link #disarm} and {@link #heat} belong to the leader, the rest
 * is thread-safe.
 */
final class TcpProgress implements ProgressSource {
    /** While the engine spins, cold connections are looked at so often: a select costs about a microsecond. */
    private static final long SELECT_NS = 25_000;

    private static final int MOST_REARMED = 16;

    private final NettyReactor reactor;
    private final Reactor sessions;

    /** There if the session sleeps elsewhere than in {@link #reactor}. */
    private final @Nullable LoopSentry sentry;

    private final Lingering lingering;
    private final Coalescing coalescing;

    private final CopyOnWriteArrayList<TcpConnection> list = new CopyOnWriteArrayList<>();
    private volatile TcpConnection[] connections = {};
    private volatile boolean look;
    private volatile boolean armed;

    // the leader's
    private TcpConnection[] hot = new TcpConnection[4];
    private int hotCount;
    private long selectedNs;

    /**
     * Nothing to poll yet.
     *
     * @param reactor where the connections are registered
     * @param sessions where the session sleeps: the same, or else there is a sentry
     */
    TcpProgress(
            NettyReactor reactor,
            Reactor sessions,
            @Nullable LoopSentry sentry,
            Lingering lingering,
            Coalescing coalescing) {
        this.reactor = reactor;
        this.sessions = sessions;
        this.sentry = sentry;
        this.lingering = lingering;
        this.coalescing = coalescing;
    }

    synchronized void add(TcpConnection connection) {
        list.add(connection);
        connections = list.toArray(TcpConnection[]::new);
    }

    synchronized void remove(TcpConnection connection) {
        list.remove(connection);
        connections = list.toArray(TcpConnection[]::new);
    }

    TcpConnection[] connections() {
        return connections;
    }

    Lingering lingering() {
        return lingering;
    }

    Coalescing coalescing() {
        return coalescing;
    }

    /** Whether this thread is the leader that runs the loop. */
    boolean isLedHere() {
        return reactor.isLedHere();
    }

    boolean isArmed() {
        return armed;
    }

    /** Ends the session's sleep. */
    void wakeSession() {
        sessions.wakeUp();
    }

    /** Makes the leader look at the connections that ask for it; ends its sleep. */
    void requestLook() {
        look = true;
        if (armed) {
            wakeSession();
        }
    }

    /** Has a connection read in each round. */
    void heat(TcpConnection connection) {
        if (!connection.attention().isHot()) {
            if (hotCount == hot.length) {
                hot = Arrays.copyOf(hot, 2 * hotCount);
            }
            hot[hotCount++] = connection;
        }
        connection.attention().heat();
    }

    @Override
    public int poll(long nowNs) {
        coalescing.poll(nowNs);
        int work = look ? lookAround() : 0;
        for (int i = hotCount - 1; i >= 0; i--) {
            TcpConnection connection = hot[i];
            work += connection.attention().pollHot();
            if (!connection.attention().isHot()) {
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
        if (sentry == null) {
            return nowNs - selectedNs >= SELECT_NS && hotCount < connections.length;
        }
        return sentry.takeNews() || nowNs - selectedNs >= SELECT_NS; // nobody else runs the loop
    }

    private int lookAround() {
        look = false;
        int work = 0;
        boolean all = false;
        try {
            for (TcpConnection connection : connections) {
                work += connection.attention().attend();
            }
            all = true;
        } finally {
            if (!all) {
                look = true; // those behind the one that failed have not been looked at
            }
        }
        return work;
    }

    @Override
    public boolean armForBlocking() {
        armed = true;
        coalescing.flushAll();
        boolean news = look;
        for (TcpConnection connection : connections) {
            news |= connection.attention().arm();
        }
        if (sentry != null && !news) {
            sentry.arm();
        }
        return !news;
    }

    /** Not while a connection is read directly, or so many are open that to look at them takes longer than to wake a thread. */
    @Override
    public boolean rearm() {
        TcpConnection[] open = connections;
        if (sentry != null || look || hotCount > 0 || open.length > MOST_REARMED || !coalescing.isIdle()) {
            return false;
        }
        armed = true;
        for (TcpConnection connection : open) {
            if (!connection.attention().rearm()) {
                return false;
            }
        }
        return !look;
    }

    @Override
    public void disarm() {
        armed = false;
        if (sentry != null) {
            sentry.disarm();
        }
        for (TcpConnection connection : connections) {
            connection.attention().disarm();
        }
    }
}
