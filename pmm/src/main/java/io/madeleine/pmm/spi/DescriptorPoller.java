package io.madeleine.pmm.spi;

import java.util.List;

/**
 * Waits for raw file descriptors, which the JDK cannot. A reactor finds it at run time with {@link java.util.ServiceLoader} and works
 * without any, but for such descriptors.
 *
 * <p>Threading: thread-safe.
 */
public interface DescriptorPoller {
    /** Whether it can be used in this process; never throws. */
    Availability availability();

    /** The names of the Java modules that need native access for it, also where they have not got it. */
    List<String> nativeModules();

    /**
     * Makes a set without descriptors.
     *
     * @throws IllegalStateException if the poller is not available
     * @throws java.io.UncheckedIOException if the system has no room for another
     */
    Poll open();

    /**
     * A set of descriptors.
     *
     * <p>Threading: one thread at a time, but for {@link #wakeUp}.
     */
    interface Poll extends AutoCloseable {
        /**
         * Replaces the set.
         *
         * @param descriptors stay their owners'
         * @param operations {@link java.nio.channels.SelectionKey#OP_READ}, {@code OP_WRITE}, or both or neither
         */
        void watch(int[] descriptors, int[] operations);

        /** Looks, or waits until there is something to see or {@link #wakeUp} is called; returns how many descriptors are ready. */
        int poll(boolean waits);

        /** What the last poll found the descriptor of that index ready for; one that is broken, for all it is watched for. */
        int ready(int index);

        /** Ends a wait, or else the next. Any thread. */
        void wakeUp();

        /** Any thread, when nobody polls any more. */
        @Override
        void close();
    }
}
