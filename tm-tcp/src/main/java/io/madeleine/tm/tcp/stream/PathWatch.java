package io.madeleine.tm.tcp.stream;

import io.madeleine.pmm.FailureLog;
import io.madeleine.tm.tcp.KeepAlive;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.IntSupplier;
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
public final class PathWatch {
    private static final int LOOKS_PER_TIMEOUT = 8;
    private static final long MIN_PERIOD_NS = TimeUnit.MILLISECONDS.toNanos(50);
    private static final long MAX_PERIOD_NS = TimeUnit.SECONDS.toNanos(1);

    /** The period while a connection is silent. */
    private static final long SHARP_PERIOD_NS = TimeUnit.MILLISECONDS.toNanos(250);

    private record WatchedPath(PathState path, Consumer<String> whenLost) {}

    private final String name;
    private final long timeoutNs;
    private final long periodNs;
    private final SocketTable table;
    private final FailureLog failures = new FailureLog(System.getLogger("io.madeleine.tm.tcp"));
    private final Logger logger;
    private final List<WatchedPath> paths = new CopyOnWriteArrayList<>();
    private @Nullable Thread thread;
    private boolean closed;

    /** Whether the last look could not read the table. Owned by the thread. */
    private boolean unreadable;

    public PathWatch(String name, long timeoutNs, SocketTable table, Logger logger) {
        this.name = name;
        this.timeoutNs = timeoutNs;
        this.periodNs = Math.clamp(timeoutNs / LOOKS_PER_TIMEOUT, MIN_PERIOD_NS, MAX_PERIOD_NS);
        this.table = table;
        this.logger = logger;
    }

    /**
     * Watches a connection if it leaves this host.
     *
     * @param heardPackets the number of packets received from the peer
     * @param whenLost told the reason if the path is cut, possibly more than once
     * @return the state to which each sent packet must be reported, or empty if the connection stays on this host
     */
    public Optional<PathState> watch(AddressPair ends, IntSupplier heardPackets, Consumer<String> whenLost) {
        if (ends.areOnOneHost()) {
            return Optional.empty();
        }
        PathState path = new PathState(SocketTable.key(ends.local(), ends.remote()), heardPackets);
        begin(new WatchedPath(path, whenLost));
        return Optional.of(path);
    }

    private synchronized void begin(WatchedPath watched) {
        if (closed) {
            return;
        }
        if (thread == null) {
            Thread looking = new Thread(this::run, "madeleine-tcp-paths-" + name);
            looking.setDaemon(true);
            looking.start();
            thread = looking; // after the last statement that may lack memory
        }
        paths.add(watched);
        notifyAll();
    }

    private void run() {
        while (true) {
            try {
                if (!pause(paths.stream().anyMatch(watched -> watched.path.isSilent()))) {
                    return;
                }
                look(System.nanoTime());
                unreadable = false;
            } catch (InterruptedException _) {
                Thread.currentThread().interrupt();
                return;
            } catch (IOException e) {
                warn(e);
            } catch (RuntimeException | Error e) { // for example out of memory, or a listener that throws
                failures.error("the watch of network paths of adapter " + name + " failed; it goes on", e);
                LockSupport.parkNanos(this, MIN_PERIOD_NS);
            }
        }
    }

    private void warn(IOException e) {
        if (!unreadable) {
            unreadable = true;
            logger.log(
                    Level.WARNING,
                    "tcp: until the kernel's table of connections can be read again, only the kernel detects a link"
                            + " that is cut while bytes are in flight, after the retransmissions of"
                            + " net.ipv4.tcp_retries2: " + e.getMessage());
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
        boolean all = false;
        try {
            lookAtAll(nowNs);
            all = true;
        } finally {
            if (!all) { // what was not looked at is due again
                for (WatchedPath watched : paths) {
                    watched.path.missed();
                }
            }
        }
    }

    private void lookAtAll(long nowNs) throws IOException {
        List<WatchedPath> due =
                paths.stream().filter(watched -> watched.path.beginLook()).toList();
        if (due.isEmpty()) {
            return;
        }
        Map<String, SocketTable.Row> rows =
                table.read(due.stream().map(watched -> watched.path.key()).collect(Collectors.toSet()));
        for (WatchedPath watched : due) {
            lookAt(watched, rows.get(watched.path.key()), nowNs);
        }
    }

    private void lookAt(WatchedPath watched, SocketTable.@Nullable Row row, long nowNs) {
        PathState path = watched.path;
        if (row == null) {
            path.missed();
        } else if (path.look(row, nowNs) >= timeoutNs) {
            watched.whenLost.accept("its host has answered nothing for madeleine.peer-timeout ("
                    + TimeUnit.NANOSECONDS.toMillis(timeoutNs) + " ms): " + path.describe()
                    + "; is the network between the two hosts cut?");
            path.end(); // if that threw, the next look tells again
        }
    }

    public synchronized void close() {
        closed = true;
        notifyAll();
    }
}
