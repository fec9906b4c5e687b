package io.madeleine.pmm.spi;

import java.nio.channels.SelectableChannel;
import java.util.function.BooleanSupplier;

/**
 * The one place where a session sleeps. Networks register the events that end the sleep here.
 *
 * <p>Threading: {@link #poll}, {@link #sleep} and all handlers run in the thread that holds the lead; before a thread
 * leads, in the thread that opens the session. Any thread may call {@link #register} and {@link #wakeUp}.
 */
public interface Reactor extends AutoCloseable {
    /**
     * Watches a channel.
     *
     * @param channel in non-blocking mode; closing it ends the registration
     * @param operations of {@link java.nio.channels.SelectionKey}
     * @param handler called with the ready operations for as long as they are ready (level-triggered)
     */
    Registration register(SelectableChannel channel, int operations, ReadyHandler handler);

    /** Whether {@link #registerDescriptor} is supported; if not, why, and what mends it. */
    default Availability descriptors() {
        return Availability.off("this reactor watches channels of the JDK alone");
    }

    /**
     * Watches a raw file descriptor, such as the completion channel of a NIC.
     *
     * <p>Ownership: the descriptor belongs to its owner, who registers it at most once at a time and cancels before
     * closing it.
     *
     * @param operations {@link java.nio.channels.SelectionKey#OP_READ}, {@code OP_WRITE}, both or neither
     * @param handler called with the ready operations for as long as they are ready (level-triggered); for a broken
     *     descriptor, with all operations that are watched
     * @throws UnsupportedOperationException unless {@link #descriptors()} is on; an adapter can use a {@link Demand}
     *     instead to be polled
     */
    default Registration registerDescriptor(int descriptor, int operations, ReadyHandler handler) {
        throw new UnsupportedOperationException(descriptors().reason());
    }

    /** Handles ready events without waiting; returns how many. */
    int poll();

    /**
     * Waits until an event is ready, {@link #wakeUp()} is called, or the time is over; then handles ready events. It
     * may return early: a caller without other work then sleeps for the rest. The end of the time is exact to a few
     * dozen microseconds, not to a millisecond.
     *
     * @param timeoutNs the longest wait, above 0; {@link Long#MAX_VALUE} for no limit
     * @return how many events were handled
     */
    int sleep(long timeoutNs);

    /**
     * As {@link #sleep(long)}, for a thread that may lose the lead to another while it sleeps. After the wait, this
     * thread handles an event only if {@code mayHandle} returns true; it leaves all others to the next poll. Meanwhile
     * the thread that has taken the lead may call {@link #poll}, which does nothing and returns 0.
     *
     * @throws UnsupportedOperationException unless {@link #asksBeforeHandling()}
     */
    default int sleep(long timeoutNs, BooleanSupplier mayHandle) {
        throw new UnsupportedOperationException("what this reactor waits for it handles");
    }

    /** Whether {@link #sleep(long, BooleanSupplier)} is supported. */
    default boolean asksBeforeHandling() {
        return false;
    }

    /** Ends the current sleep, or else the next one. */
    void wakeUp();

    @Override
    void close();

    /** A watched channel. */
    interface Registration {
        /** Changes the watched operations, from the next poll or sleep on. Any thread. */
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
