package io.madeleine.tm.tcp;

import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Finds out within {@code madeleine.peer-timeout} (and less than 2 s more) that a link is cut while bytes are under way, when {@link
 * KeepAlive} asks nothing and the kernel would repeat them for a quarter of an hour. A thread of its own looks at the kernel's table
 * of connections, and only at those that leave the host and have sent something that may be unacknowledged.
 *
 * <p>Threading: thread-safe.
 */
final class PathWatch {
    private static final int LOOKS_PER_TIMEOUT = 8;
    private static final long MIN_PERIOD_NS = TimeUnit.MILLISECONDS.toNanos(50);
    private static final long MAX_PERIOD_NS = TimeUnit.SECONDS.toNanos(1);

    /** While something is silent. */
    private static final long SHARP_PERIOD_NS = TimeUnit.MILLISECONDS.toNanos(250);

    private record Watched(TcpConnection connection, PathState path) {}

    private final String name;
    private final long timeoutNs;
    private final long periodNs;
    private final SocketTable table;
    private final Logger logger;
    private final List<Watched> paths = new CopyOnWriteArrayList<>();
    private @Nullable Thread thread;
    private boolean closed;

    PathWatch(String name, long timeoutNs, SocketTable table, Logger logger) {
        this.name = name;
        this.timeoutNs = timeoutNs;
        this.periodNs = Math.clamp(timeoutNs / LOOKS_PER_TIMEOUT, MIN_PERIOD_NS, MAX_PERIOD_NS);
        this.table = table;
        this.logger = logger;
    }

    /** Begins to watch a connection if it leaves this host; returns what is to be told of each packet then. */
    Optional<PathState> watch(TcpConnection connection, Ends ends) {
        if (ends.areOnOneHost()) {
            return Optional.empty();
        }
        PathState path = new PathState(SocketTable.key(ends.local(), ends.remote()), connection::heardPackets);
        paths.add(new Watched(connection, path));
        begin();
        return Optional.of(path);
    }

    private synchronized void begin() {
        if (closed) {
            return;
        }
        if (thread == null) {
            thread = new Thread(this::run, "madeleine-tcp-paths-" + name);
            thread.setDaemon(true);
            thread.start();
        } else {
            notifyAll();
        }
    }

    private void run() {
        try {
            while (pause(paths.stream().anyMatch(watched -> watched.path.isSilent()))) {
                look(System.nanoTime());
            }
        } catch (IOException e) {
            logger.log(
                    Level.WARNING,
                    "tcp: a link that is cut while bytes are under way is found by the kernel alone, after its"
                            + " net.ipv4.tcp_retries2: " + e.getMessage());
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
    }

    /** Returns false at the end. */
    private synchronized boolean pause(boolean silence) throws InterruptedException {
        while (!closed && paths.isEmpty()) {
            wait();
        }
        if (!closed) {
            TimeUnit.NANOSECONDS.timedWait(this, silence ? Math.min(periodNs, SHARP_PERIOD_NS) : periodNs);
        }
        return !closed;
    }

    private void look(long nowNs) throws IOException {
        paths.removeIf(watched -> watched.path.hasEnded());
        List<Watched> due =
                paths.stream().filter(watched -> watched.path.beginLook()).toList();
        if (due.isEmpty()) {
            return;
        }
        Map<String, SocketTable.Row> rows =
                table.read(due.stream().map(watched -> watched.path.key()).collect(Collectors.toSet()));
        for (Watched watched : due) {
            PathState path = watched.path;
            SocketTable.Row row = rows.get(path.key());
            if (row == null) {
                path.missed();
            } else if (path.look(row, nowNs) >= timeoutNs) {
                path.end();
                watched.connection.pathLost("its host has answered nothing for madeleine.peer-timeout ("
                        + TimeUnit.NANOSECONDS.toMillis(timeoutNs) + " ms): " + path.describe()
                        + "; is the network between the two hosts cut?");
            }
        }
    }

    synchronized void close() {
        closed = true;
        notifyAll();
    }
}
