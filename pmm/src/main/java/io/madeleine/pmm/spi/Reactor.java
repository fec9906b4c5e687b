package io.madeleine.pmm.spi;

import java.nio.channels.SelectableChannel;
import java.util.function.BooleanSupplier;

/**
 * The one place where a session sleeps, and where what can end that sleep is registered.
 *
 * <p>Threading: {@link #poll}, {@link #sleep} and all handlers belong to the thread that holds the lead (or, before
 * anybody leads, to the one that opens the session); {@link #register} and {@link #wakeUp} may be called by any thread.
 */
public interface Reactor extends AutoCloseable {
    /**
     * Watches a non-blocking channel.
     *
     * @param channel in non-blocking mode; closing it ends the registration
     * @param operations of {@link java.nio.channels.SelectionKey}
     * @param handler called with the operations that are ready, as often as they are (level-triggered)
     */
    Registration register(SelectableChannel channel, int operations, ReadyHandler handler);

    /** Whether {@link #registerDescriptor} can be called, and if not, why and what mends it. */
    default Availability descriptors() {
        return Availability.off("this reactor watches channels of the JDK alone");
    }

    /**
     * Watches a raw file descriptor, such as one to wait on for a NIC's completions.
     *
     * <p>Ownership: the descriptor is its owner's, who cancels before closing it, and registers it once at a time.
     *
     * @param operations {@link java.nio.channels.SelectionKey#OP_READ}, {@code OP_WRITE}, or both or neither
     * @param handler called with the operations that are ready, as often as they are (level-triggered); of a descriptor that is
     *     broken, with all that are watched for
     * @throws UnsupportedOperationException unless {@link #descriptors()}; who needs to be woken nevertheless has itself polled
     *     by a {@link Demand}
     */
    default Registration registerDescriptor(int descriptor, int operations, ReadyHandler handler) {
        throw new UnsupportedOperationException(descriptors().reason());
    }

    /** Handles what is ready, without waiting; returns how many events that was. */
    int poll();

    /**
     * Waits until something is ready, {@link #wakeUp()} is called, or the time is over, and handles what is ready. It may be back some time
     * before: who has nothing to do then asks for the rest. The end of the time is kept to some dozen microseconds, not to the
     * millisecond.
     *
     * @param timeoutNs at most how long, above 0; {@link Long#MAX_VALUE} for as long as it takes
     * @return how many events were handled
     */
    int sleep(long timeoutNs);

    /**
     * As {@link #sleep(long)}, for a thread from which another may take the lead while it sleeps. What is ready is handled only if
     * {@code mayHandle} says so, which is asked after the wait, in this thread, before anything is handled; or else it is found
     * by the next poll. Meanwhile {@link #poll} may be called by who has taken the lead, does nothing and returns 0.
     *
     * @throws UnsupportedOperationException unless {@link #asksBeforeHandling()}
     */
    default int sleep(long timeoutNs, BooleanSupplier mayHandle) {
        throw new UnsupportedOperationException("what this reactor waits for it handles");
    }

    /** Whether {@link #sleep(long, BooleanSupplier)} can be called. */
    default boolean asksBeforeHandling() {
        return false;
    }

    /** Ends the current sleep, or else the next. */
    void wakeUp();

    @Override
    void close();

    /** A watched channel. */
    interface Registration {
        /** Changes what is watched for; takes effect by the next poll or sleep. Any thread. */
        void operations(int operations);

        /** Stops watching. Any thread; idempotent. */
        void cancel();
    }

    /** Handles the events of one channel. */
    @FunctionalInterface
    interface ReadyHandler {
        /**
         * Called when the channel is ready.
         *
         * @param readyOperations of {@link java.nio.channels.SelectionKey}
         */
        void onReady(int readyOperations);
    }
}
