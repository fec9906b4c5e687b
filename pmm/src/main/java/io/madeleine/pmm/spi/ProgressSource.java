package io.madeleine.pmm.spi;

/**
 * Something that the progress engine polls, while a thread waits or a handler is registered. An adapter that needs to
 * be polled at other times holds a {@link Demand}.
 *
 * <p>Threading: the thread that holds the lead makes all calls, except {@link #recover}.
 */
public interface ProgressSource {
    /**
     * Handles the events that are there, without waiting.
     *
     * @param nowNs the current {@link System#nanoTime()}, read once per round
     * @return how many events were handled; after 0 the engine may become idle
     */
    int poll(long nowNs);

    /**
     * Checks whether an error of the JVM comes from memory that this source shares with other processes, such as a
     * mapped file that was truncated. If so, the source gives up the connections that need that memory, and its next
     * poll reports their loss. Any thread.
     *
     * @return whether the error comes from such memory, so that the caller can continue
     */
    default boolean recover(InternalError fault) {
        return false;
    }

    /**
     * Arms the source for the engine's sleep: from now on every event ends the sleep in the reactor. Events are bytes
     * that the layer above {@linkplain ProtocolConnection#receiveInterest wants}, room for a send that was {@link
     * LinkStatus#PENDING}, posted memory that comes back, and a lost peer. After arming, the source checks once more
     * for events.
     *
     * @return false if there is an event already, so that the engine must not sleep
     */
    boolean armForBlocking();

    /**
     * The longest time in nanoseconds that the engine may sleep before it polls again, if nothing wakes it. Unlike the
     * deadline of a {@link Demand}, this does not make a thread lead and sleep where none would otherwise.
     */
    default long longestSleepNs() {
        return Long.MAX_VALUE;
    }

    /** Disarms; called after each {@link #armForBlocking()} and {@link #rearm()}, whatever the result was. */
    void disarm();

    /**
     * Disarms, probably for a moment only: a thread that waits polls in place of the sleeper and may rearm soon. The
     * source defers whatever would make {@link #rearm()} expensive.
     */
    default void disarmForAMoment() {
        disarm();
    }

    /**
     * Arms again for a thread that slept before and has not been woken; it keeps sleeping in the reactor, which may not
     * watch what was registered or changed meanwhile. The source returns true only if that does no harm, and spends
     * only a few dozen nanoseconds, because the caller is a thread of the user that has other work.
     *
     * @return false if there is an event already, or if the sleeper has to wake up and arm everything anew
     */
    default boolean rearm() {
        return false;
    }
}
