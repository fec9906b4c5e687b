package io.madeleine.api;

import java.util.concurrent.TimeUnit;

/**
 * The completion of an {@code endPackingAsync} or {@code endUnpackingAsync}. It belongs to its message and is valid
 * until the message is closed; the action of {@link #onDone} runs even after that.
 *
 * <p>Threading: thread-safe.
 */
public interface Completion {
    /** Whether the message has ended, successfully or not. Drives the networks once if it has not. */
    boolean isDone();

    /**
     * Waits for the end of the message.
     *
     * @throws MadeleineException as the blocking call would have thrown it
     */
    void await();

    /**
     * Waits for the end of the message, no longer than the given time.
     *
     * @return whether the message has ended
     * @throws MadeleineException as the blocking call would have thrown it
     */
    boolean await(long timeout, TimeUnit unit);

    /**
     * Calls {@code action} once when the message ends, in the thread that completes it, or at once if the message has
     * ended already. A completion has one action: a second replaces the first. The action must not wait; it calls
     * {@link #await()} to get the outcome. It finds the thread's interrupt status clear, and the engine restores the
     * status after it as it does after {@linkplain Channel#onMessage handlers}.
     */
    void onDone(Runnable action);
}
