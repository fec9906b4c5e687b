package io.madeleine.api;

import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/**
 * A condition variable for threads that wait for a {@linkplain Channel.MessageHandler message handler} or another
 * thread. A platform thread that waits drives the session's networks meanwhile, as in every other wait, so that the
 * awaited handler may run in that very thread; a virtual thread parks.
 *
 * <p>A signal {@linkplain Channel#newSignal() of a channel} is for conditions that the channel's handler makes true.
 * The waiting thread first polls the connection from which the message is expected, and calls the handler itself,
 * before it drives everything else. Other peers are still served: every few dozen such waits drive all networks. For
 * all other conditions use a signal {@linkplain Session#newSignal() of the session}.
 *
 * <p>A thread that makes a condition true calls {@link #signal()} afterwards; the call costs next to nothing while no
 * thread waits.
 *
 * <p>Threading: thread-safe.
 */
public interface Signal {
    /**
     * Waits until the condition is met. The waiting thread evaluates the condition often; the condition must read state
     * that other threads write safely: volatile fields, atomics.
     *
     * <p>The death of a process does not end the wait, since the session does not know which peer the condition depends
     * on. So a condition that depends on a peer should also become true when {@link Session#onPeerFailure} reports that
     * peer; the listener calls {@link #signal}.
     *
     * @throws WaitInterruptedException if the thread is interrupted
     * @throws SessionException if the session closes
     * @throws IllegalStateException if called from the action of a {@link Completion}, which must not wait, or if
     *     called from a message handler and not met within {@code madeleine.wait.in-handlers}
     */
    void await(BooleanSupplier condition);

    /**
     * As {@link #await(BooleanSupplier)}, waiting no longer than the given time.
     *
     * @return whether the condition was met
     */
    boolean await(BooleanSupplier condition, long timeout, TimeUnit unit);

    /**
     * As {@link #await(BooleanSupplier, long, TimeUnit)}, for a condition that a message from a certain process is
     * expected to make true.
     *
     * @param expected the rank of that process, as a hint: another process may also make the condition true, and the
     *     death of the expected one does not end the wait. Any number that is not the rank of another process, such as
     *     -1, stands for the sender of the channel's last message. Signals of the session ignore the hint
     */
    default boolean await(BooleanSupplier condition, int expected, long timeout, TimeUnit unit) {
        return await(condition, timeout, unit);
    }

    /** Makes the waiting threads evaluate their conditions. Never waits; any thread may call it, a handler too. */
    void signal();
}
