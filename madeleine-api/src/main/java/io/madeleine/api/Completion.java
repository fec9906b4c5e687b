package io.madeleine.api;

import java.util.concurrent.TimeUnit;

/**
 * The end of an asynchronous {@code endPackingAsync} or {@code endUnpackingAsync}. It belongs to its message and is
 * valid until its message is closed; an action of {@link #onDone} is called even after that.
 *
 * <p>Threading: thread-safe.
 */
public interface Completion {
    /** Whether the message has ended, well or badly. Drives the networks once when it has not. */
    boolean isDone();

    /**
     * Waits for the end.
     *
     * @throws MadeleineException what the blocking call would have thrown
     */
    void await();

    /**
     * Waits for the end, no longer than the given time.
     *
     * @return whether it has come
     * @throws MadeleineException what the blocking call would have thrown
     */
    boolean await(long timeout, TimeUnit unit);

    /**
     * Calls {@code action} once at the end (at once if it has come), from whichever thread brings it about. One action
     * per completion: a second replaces the first. The action must not wait; it asks {@link #await()} for the outcome.
     * It finds the thread's interrupt status clear, and leaves it as {@linkplain Channel#onMessage handlers} do.
     */
    void onDone(Runnable action);
}
