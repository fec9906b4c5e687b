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
 * Detects a link that is cut while bytes are in flight, within {@code madeleine.peer-timeout} and less than 2 s more.
 * In this case {@link KeepAlive} does not probe, and the kernel would retransmit for a quarter of an hour. A thread
 * reads the kernel's table of connections, and only for connections that leave the host and may have unacknowledged
 * bytes.
 *
 * <p>Threading: thread-safe.
 */
final class PathWatch {
    private static final int LOOKS_PER_TIMEOUT = 8;
    private static final long MIN_PERIOD_NS = TimeUnit.MILLISECONDS.toNanos(50);
    private static final long MAX_PERIOD_NS = TimeUnit.SECONDS.toNanos(1);

    /** The period while a connection is silent. */
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

    /**
     * Watches a connection if it leaves this host.
     *
     * @return the state to which each sent packet must be reported, or empty if the connection stays on this host
     */
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
                    "tcp: from now on only the kernel detects a link that is cut while bytes are in flight, after the"
                            + " retransmissions of net.ipv4.tcp_retries2: " + e.getMessage());
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
    }

    /** Waits until the next look; returns false at the end. */
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
