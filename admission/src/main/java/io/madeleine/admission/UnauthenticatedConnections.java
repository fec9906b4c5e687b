package io.madeleine.admission;

import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.Optional;
import java.util.Set;

/**
 * Who has connected and not proved yet to know the secret: a bounded number, each for a bounded time. When there are too many,
 * the one that has been silent for longest loses its place; who knows the secret needs milliseconds, and tries again.
 *
 * <p>Threading: confined to one thread.
 *
 * @param <T> what stands for a connection, equal to itself alone
 */
public final class UnauthenticatedConnections<T> {
    /** However little there is, some have to be able to prove themselves. */
    private static final int MIN_COUNT = 16;

    private int maxCount;
    private final Set<T> byAge = new LinkedHashSet<>();
    private final Set<T> bySilence = new LinkedHashSet<>();

    /** Room for so many. */
    public UnauthenticatedConnections(int maxCount) {
        this.maxCount = maxCount;
    }

    /** One more has come. */
    public void add(T connection) {
        byAge.add(connection);
        bySilence.add(connection);
    }

    /** It has said something: it is the last to lose its place. */
    public void heard(T connection) {
        if (bySilence.remove(connection)) {
            bySilence.add(connection);
        }
    }

    /** It has proved itself, or is gone; returns whether it was here. */
    public boolean remove(T connection) {
        bySilence.remove(connection);
        return byAge.remove(connection);
    }

    /** Whether one has to go before another can come. */
    public boolean isFull() {
        return byAge.size() >= maxCount;
    }

    /** How many are here. */
    public int count() {
        return byAge.size();
    }

    /** How many can be. */
    public int maxCount() {
        return maxCount;
    }

    /** There was not enough of something for so many as are here. */
    public void halve() {
        maxCount = Math.min(maxCount, Math.max(MIN_COUNT, byAge.size() / 2));
    }

    /** Who has been there for longest. */
    public Optional<T> oldest() {
        return first(byAge);
    }

    /** Who has been silent for longest. */
    public Optional<T> mostSilent() {
        return first(bySilence);
    }

    private static <T> Optional<T> first(Set<T> order) {
        Iterator<T> all = order.iterator();
        return all.hasNext() ? Optional.of(all.next()) : Optional.empty();
    }
}
