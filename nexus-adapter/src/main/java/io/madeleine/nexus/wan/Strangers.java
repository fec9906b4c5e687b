package io.madeleine.nexus.wan;

import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.Optional;
import java.util.Set;

/**
 * Who has connected and not shown yet to know the secret: a bounded number.
 *
 * <p>Threading: confined to one thread.
 */
final class Strangers {
    /** However little there is, some have to be able to show it. */
    private static final int MIN_COUNT = 16;

    private final Set<Stranger> byAge = new LinkedHashSet<>();
    private final Set<Stranger> bySilence = new LinkedHashSet<>();
    private int maxCount;

    /** Room for so many. */
    Strangers(int maxCount) {
        this.maxCount = maxCount;
    }

    void enter(Stranger stranger) {
        byAge.add(stranger);
        bySilence.add(stranger);
    }

    /** It has said something: it is the last to lose its place. */
    void spoke(Stranger stranger) {
        if (bySilence.remove(stranger)) {
            bySilence.add(stranger);
        }
    }

    /** It is no stranger any more, or gone. */
    void leave(Stranger stranger) {
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
    Optional<Stranger> oldest() {
        return first(byAge);
    }

    /** Who has been silent for longest. */
    Optional<Stranger> mostSilent() {
        return first(bySilence);
    }

    private static Optional<Stranger> first(Set<Stranger> order) {
        Iterator<Stranger> all = order.iterator();
        return all.hasNext() ? Optional.of(all.next()) : Optional.empty();
    }
}
