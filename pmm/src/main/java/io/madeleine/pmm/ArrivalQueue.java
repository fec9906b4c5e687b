package io.madeleine.pmm;

import org.jctools.queues.varhandle.MpmcVarHandleArrayQueue;
import org.jspecify.annotations.Nullable;

/**
 * Where a channel's connections queue up that have a message to be opened: first come, first served, whatever network it
 * came by. Each connection stands in it at most once, so that it is bounded by their number.
 *
 * <p>Threading: thread-safe, lock-free.
 *
 * @param <T> what queues up
 */
public final class ArrivalQueue<T> {
    private final MpmcVarHandleArrayQueue<T> queue;

    /** A queue for at most so many. */
    public ArrivalQueue(int capacity) {
        queue = new MpmcVarHandleArrayQueue<>(Math.max(2, capacity));
    }

    /** Queues up. */
    public void add(T arrival) {
        if (!queue.offer(arrival)) {
            throw new IllegalStateException("more arrivals than the " + queue.capacity() + " there can be");
        }
    }

    /** Takes the first, or null if there is none. */
    public @Nullable T poll() {
        return queue.poll();
    }

    /** Whether nobody queues. */
    public boolean isEmpty() {
        return queue.isEmpty();
    }
}
