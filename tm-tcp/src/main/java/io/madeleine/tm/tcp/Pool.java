package io.madeleine.tm.tcp;

import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Things that are lent: a few at rest are kept, so that the one in use is mostly in the cache.
 *
 * <p>Threading: thread-safe, lock-free; a thing belongs to whoever took it until it is given back.
 */
final class Pool<T> {
    /** More than so many at rest are left to the garbage collector. */
    private static final int KEPT = 16;

    private final Supplier<T> maker;
    private final AtomicReferenceArray<@Nullable T> kept = new AtomicReferenceArray<>(KEPT);

    /** An empty pool; {@code maker} makes what is taken from it then. */
    Pool(Supplier<T> maker) {
        this.maker = maker;
    }

    /** One at rest, in whatever state, or a new one. */
    T take() {
        for (int i = 0; i < KEPT; i++) {
            if (kept.getPlain(i) != null) {
                T taken = kept.getAndSet(i, null);
                if (taken != null) {
                    return taken;
                }
            }
        }
        return maker.get();
    }

    /** Gives one back. */
    void give(T unused) {
        for (int i = 0; i < KEPT; i++) {
            if (kept.getPlain(i) == null && kept.compareAndSet(i, null, unused)) {
                return;
            }
        }
    }
}
