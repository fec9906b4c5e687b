package io.madeleine.tm.via;

import io.madeleine.tm.via.link.ViaConnection;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The processes to which an adapter's connections go. An endpoint does not notice that a process on its host has ended,
 * so the adapter checks twice a second.
 *
 * <p>Threading: guarded by the adapter's lock; {@link #isDue} and {@link #whyStuck} belong to the thread that polls.
 */
final class PeerProcesses {
    private static final long CHECK_NS = 500_000_000;

    private final ViaAddress own;
    private final Map<ViaConnection, ViaAddress> byConnection = new HashMap<>();

    /** The ids of the processes that have ended. */
    private final Set<Long> ended = new TreeSet<>();

    private long nextCheckNs;

    /** The oldest operation to a process that has ended at the last check; 0 if there was none. */
    private long oldestBefore;

    PeerProcesses(ViaAddress own) {
        this.own = own;
    }

    /** This process calls the other one over the connection. */
    void called(ViaConnection connection, ViaAddress process) {
        byConnection.put(connection, process);
    }

    /** Whether the connection is known to go to a process that this one has called. */
    boolean isKnown(ViaConnection connection) {
        return byConnection.containsKey(connection);
    }

    void remove(ViaConnection connection) {
        byConnection.remove(connection);
    }

    boolean isDue(long nowNs) {
        return nowNs - nextCheckNs >= 0;
    }

    /** Tells each connection whose process has ended. */
    void check(ViaConnection[] connections, long nowNs) {
        nextCheckNs = nowNs + CHECK_NS;
        for (ViaConnection connection : connections) {
            ViaAddress process = processOf(connection);
            if (process != null && process.isDead(own)) {
                ended.add(process.pid());
                connection.peerDied("its process (" + process.pid() + ") has ended");
            }
        }
    }

    /** The process of a peer, once this process has requested the connection; null before. */
    private @Nullable ViaAddress processOf(ViaConnection connection) {
        ViaAddress known = byConnection.get(connection);
        if (known == null) {
            known = connection.requestedAddress().flatMap(ViaAddress::read).orElse(null);
            if (known != null) {
                byConnection.put(connection, known);
            }
        }
        return known;
    }

    /**
     * Why nothing is completed any more; empty if that is not so. The provider shm of libfabric 1.17 completes
     * operations in their order. An operation that a process did not take before it ended stays for ever, and so do
     * those behind it.
     *
     * @param oldest the number of the oldest operation to a process that has ended; 0 if there is none
     */
    Optional<String> whyStuck(long oldest) {
        boolean isStuck = oldest != 0 && oldest == oldestBefore;
        oldestBefore = oldest;
        if (!isStuck) {
            return Optional.empty();
        }
        String ids = ended.stream().map(String::valueOf).collect(Collectors.joining(", "));
        return Optional.of("libfabric's provider shm waits for a process that has ended (" + ids
                + "), and completes nothing any more");
    }
}
