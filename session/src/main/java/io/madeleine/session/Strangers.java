package io.madeleine.session;

import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.Optional;
import java.util.Set;

/**
 * Who has connected and not proved yet to know the secret: a bounded number, each for a bounded time. When there are too many,
 * the one that has been silent for longest loses its place; a member needs milliseconds, and tries again.
 *
 * <p>Threading: confined to one thread.
 */
final class Strangers<T> {
    /** However little there is, some have to be able to prove themselves. */
    private static final int MIN_COUNT = 16;

    private int maxCount;
    private final Set<T> byAge = new LinkedHashSet<>();
    private final Set<T> bySilence = new LinkedHashSet<>();

    /** Room for so many. */
    Strangers(int maxCount) {
        this.maxCount = maxCount;
    }

    /** One more has come. */
    void enter(T stranger) {
        byAge.add(stranger);
        bySilence.add(stranger);
    }

    /** It has said something. */
    void spoke(T stranger) {
        if (bySilence.remove(stranger)) {
            bySilence.add(stranger);
        }
    }

    /** It is no stranger any more, or gone. */
    void leave(T stranger) {
        byAge.remove(stranger);
        bySilence.remove(stranger);
    }

    /** Whether one has to go before another can come. */
    boolean isFull() {
        return byAge.size() >= maxCount;
    }

    int count() {
        return byAge.size();
    }

    int maxCount() {
        return maxCount;
    }

    /** There was not enough of something for so many as are here. */
    void halve() {
        maxCount = Math.min(maxCount, Math.max(MIN_COUNT, byAge.size() / 2));
    }

    /** Who has been there for longest. */
    Optional<T> oldest() {
        return first(byAge);
    }

    /** Who has been silent for longest. */
    Optional<T> mostSilent() {
        return first(bySilence);
    }

    private static <T> Optional<T> first(Set<T> order) {
        Iterator<T> all = order.iterator();
        return all.hasNext() ? Optional.of(all.next()) : Optional.empty();
    }
}
