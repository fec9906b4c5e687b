package io.madeleine.api;

import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/**
 * Where threads wait for what a {@linkplain Channel.MessageHandler message handler} or another thread brings about. A
 * thread that waits drives the session's networks meanwhile, as in every other wait, so that the handler it waits for may
 * run in that very thread; a virtual thread parks.
 *
 * <p>A signal {@linkplain Channel#newSignal() of a channel} is for what that channel's handler brings about: a thread that waits looks first
 * where the message is expected from, and calls the handler itself, before it drives everything else. All others are still
 * served: every few dozen such waits drive all networks. A signal {@linkplain Session#newSignal() of the session} is for all else.
 *
 * <p>Whoever makes a condition true calls {@link #signal()} afterwards, which costs next to nothing while nobody waits.
 *
 * <p>Threading: thread-safe.
 */
public interface Signal {
    /**
     * Waits until the condition is met. It is asked often, by the waiting thread, and reads what other threads write:
     * volatile fields, atomics. The death of a process ends no such wait, since nobody knows what it waits for: a condition that a peer
     * brings about is also met when {@link Session#onPeerFailure} has told of that peer, and the listener calls {@link #signal}.
     *
     * @throws WaitInterruptedException if the thread is interrupted
     * @throws SessionException if the session closes
     * @throws IllegalStateException if called from the action of a {@link Completion}, which must not wait, or if called from a
     *     message handler and not met within {@code madeleine.wait.in-handlers}
     */
    void await(BooleanSupplier condition);

    /**
     * As {@link #await(BooleanSupplier)}, waiting no longer than the given time.
     *
     * @return whether the condition was met
     */
    boolean await(BooleanSupplier condition, long timeout, TimeUnit unit);

    /**
     * As {@link #await(BooleanSupplier, long, TimeUnit)}, of what a message from a certain process will bring about.
     *
     * @param expected the rank of that process. A guess: what is brought about by others ends the wait, too, and its death does not. Any number that is no
     *     other process' rank, -1 for instance, stands for the sender of the channel's last message; without effect for signals of the
     *     session
     */
    default boolean await(BooleanSupplier condition, int expected, long timeout, TimeUnit unit) {
        return await(condition, timeout, unit);
    }

    /** Lets those who wait look at their conditions. Never waits, may be called from anywhere. */
    void signal();
}
