package io.madeleine.pmm;

import org.jctools.queues.varhandle.MpmcVarHandleArrayQueue;
import org.jspecify.annotations.Nullable;

/**
 * The queue of a channel's connections that have a message to be opened: first come, first served, over all networks.
 * Each connection is in it at most once, which bounds its length.
 *
 * <p>Threading: thread-safe, lock-free.
 *
 * @param <T> the element type
 */
public final class ArrivalQueue<T> {
    private final MpmcVarHandleArrayQueue<T> queue;

    /** A queue for at most this many elements. */
    public ArrivalQueue(int capacity) {
        queue = new MpmcVarHandleArrayQueue<>(Math.max(2, capacity));
    }

    /** Appends an element. */
    public void add(T arrival) {
        if (!queue.offer(arrival)) {
            throw new IllegalStateException("the arrival queue is full: more than " + queue.capacity() + " elements");
        }
    }

    /** Removes the first element; returns null if the queue is empty. */
    public @Nullable T poll() {
        return queue.poll();
    }

    /** Whether the queue is empty. */
    public boolean isEmpty() {
        return queue.isEmpty();
    }
}
