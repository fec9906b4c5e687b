package io.madeleine.tm.tcp;

import io.madeleine.pmm.spi.ProgressSource;
import java.util.Arrays;
import java.util.concurrent.CopyOnWriteArrayList;

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

    TcpProgress(NettyReactor reactor, Lingering lingering, Coalescing coalescing) {
        this.reactor = reactor;
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

    /** Makes the leader look at the connections that ask for it; ends its sleep. */
    void requestLook() {
        look = true;
        if (armed) {
            reactor.wakeUp();
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
        if (nowNs - selectedNs >= SELECT_NS && hotCount < connections.length) {
            selectedNs = nowNs;
            work += reactor.poll();
        }
        return work;
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
        return !news;
    }

    /** Not while a connection is read directly, or so many are open that to look at them takes longer than to wake a thread. */
    @Override
    public boolean rearm() {
        TcpConnection[] open = connections;
        if (look || hotCount > 0 || open.length > MOST_REARMED || !coalescing.isIdle()) {
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
        for (TcpConnection connection : connections) {
            connection.attention().disarm();
        }
    }
}
