package io.madeleine.pmm.spi;

import java.util.List;

/**
 * Waits for events of raw file descriptors, which the JDK cannot. A reactor finds a poller at run time with {@link
 * java.util.ServiceLoader}; without one it cannot watch raw descriptors.
 *
 * <p>Threading: thread-safe.
 */
public interface DescriptorPoller {
    /** Whether this process can use the poller; never throws. */
    Availability availability();

    /** The Java modules that need native access for this poller, whether they have it or not. */
    List<String> nativeModules();

    /**
     * Opens an empty set of descriptors.
     *
     * @throws IllegalStateException if the poller is not available
     * @throws java.io.UncheckedIOException if the system refuses another set
     */
    Poll open();

    /**
     * A set of descriptors.
     *
     * <p>Threading: one thread at a time, except for {@link #wakeUp} and {@link #close}.
     */
    interface Poll extends AutoCloseable {
        /**
         * Replaces the set.
         *
         * @param descriptors the descriptors; their owners keep them
         * @param operations for each, {@link java.nio.channels.SelectionKey#OP_READ}, {@code OP_WRITE}, both or neither
         */
        void watch(int[] descriptors, int[] operations);

        /** Returns how many descriptors are ready. With {@code waits} it waits for one, or for {@link #wakeUp}. */
        int poll(boolean waits);

        /**
         * The operations for which the last poll found the descriptor at this index ready; for a broken one, all that
         * are watched.
         */
        int ready(int index);

        /** Ends the current wait, or else the next one. Any thread. */
        void wakeUp();

        /** Frees the set. Any thread, once no thread polls any more. */
        @Override
        void close();
    }
}
