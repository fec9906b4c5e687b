package io.madeleine.nexus;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Makes routes to a node where none works: knows the addresses where the node listens.
 *
 * <p>Threading: thread-safe.
 */
interface RouteSource {
    /** Whether there is an address that may be tried now; if methods are named, one of theirs. */
    boolean mayConnect(String[] methods);

    /**
     * Connects to the first address that answers; null if none does.
     *
     * @param untilNs the deadline in {@link System#nanoTime()} terms, or {@link Long#MAX_VALUE}
     */
    @Nullable
    Route connectAny(String[] methods, long untilNs);

    /** Notes that a route is lost. Returns whether it is of the kind that this source makes; others are not its own. */
    boolean noteLost(Route route, String why);

    /** Adds the addresses that are not connected to the table of methods. */
    void addStatus(List<MethodStatus> table);
}
