package io.madeleine.admission;

import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.Optional;
import java.util.Set;

/**
 * The connections whose peers have not yet proved that they know the secret: a bounded number, each for a bounded time.
 * If there are too many, the connection that has been silent for longest loses its place. A peer that knows the secret
 * needs only milliseconds, and tries again if it loses its place.
 *
 * <p>Threading: confined to one thread.
 *
 * @param <T> the type of a connection; compared by identity
 */
public final class UnauthenticatedConnections<T> {
    /** The lowest limit: some peers must be able to prove themselves even if resources are short. */
    private static final int MIN_COUNT = 16;

    private final int configuredCount;
    private int maxCount;
    private final Set<T> byAge = new LinkedHashSet<>();
    private final Set<T> bySilence = new LinkedHashSet<>();

    /** A set with room for this many. */
    public UnauthenticatedConnections(int maxCount) {
        this.configuredCount = maxCount;
        this.maxCount = maxCount;
    }

    /** Adds a new connection. */
    public void add(T connection) {
        byAge.add(connection);
        bySilence.add(connection);
    }

    /** The peer has sent something: its connection is the last to lose its place. */
    public void heard(T connection) {
        if (bySilence.remove(connection)) {
            bySilence.add(connection);
        }
    }

    /** Removes a connection that is proven or closed; returns whether it was present. */
    public boolean remove(T connection) {
        bySilence.remove(connection);
        return byAge.remove(connection);
    }

    /** Whether a connection must be dropped before another can be added. */
    public boolean isFull() {
        return byAge.size() >= maxCount;
    }

    /** The number of connections. */
    public int count() {
        return byAge.size();
    }

    /** The largest number of connections. */
    public int maxCount() {
        return maxCount;
    }

    /** Halves the limit: resources were short with the present number. */
    public void halve() {
        maxCount = Math.min(maxCount, Math.max(MIN_COUNT, byAge.size() / 2));
    }

    /** Doubles the limit, up to the configured one: resources have been sufficient for a while. */
    public void grow() {
        maxCount = (int) Math.min(configuredCount, 2L * maxCount);
    }

    /** Whether the limit is lower than the configured one. */
    public boolean isReduced() {
        return maxCount < configuredCount;
    }

    /** The connection that was added first. */
    public Optional<T> oldest() {
        return first(byAge);
    }

    /** The connection that has been silent for longest. */
    public Optional<T> mostSilent() {
        return first(bySilence);
    }

    private static <T> Optional<T> first(Set<T> order) {
        Iterator<T> all = order.iterator();
        return all.hasNext() ? Optional.of(all.next()) : Optional.empty();
    }
}
