package io.madeleine.tm.tcp.io;

import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A pool of reusable objects. It keeps only a few idle ones, so that the one in use is mostly in the cache.
 *
 * <p>Threading: thread-safe, lock-free. Ownership: an object belongs to the thread that took it until it gives it
 * back.
 */
public final class Pool<T> {
    /** The most idle objects; others are left to the garbage collector. */
    private static final int KEPT = 16;

    private final Supplier<T> maker;
    private final AtomicReferenceArray<@Nullable T> kept = new AtomicReferenceArray<>(KEPT);

    /** Creates an empty pool; {@code maker} creates an object when the pool is empty. */
    public Pool(Supplier<T> maker) {
        this.maker = maker;
    }

    /** Takes an idle object, in any state, or a new one. */
    public T take() {
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

    /** Gives an object back. Ownership: the caller must not use it again. */
    public void give(T unused) {
        for (int i = 0; i < KEPT; i++) {
            if (kept.getPlain(i) == null && kept.compareAndSet(i, null, unused)) {
                return;
            }
        }
    }
}
