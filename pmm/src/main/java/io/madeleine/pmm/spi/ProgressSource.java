package io.madeleine.pmm.spi;

/**
 * Something that the progress engine drives. All calls come from the thread that holds the lead. It is polled while somebody waits, or
 * a handler may be called; who has to be polled besides holds a {@link Demand}.
 */
public interface ProgressSource {
    /**
     * Looks once for news and handles it, without waiting.
     *
     * @param nowNs the time, {@link System#nanoTime()}, read once per round
     * @return how many events were handled; 0 lets the engine grow idle
     */
    int poll(long nowNs);

    /**
     * Looks whether an error of the JVM comes of memory that this source shares with other processes, such as a mapped file
     * that was cut short; if so, gives up what needs that memory, and has the next poll report it. By any thread, unlike the
     * other calls.
     *
     * @return whether it was, so that the others can go on
     */
    default boolean recover(InternalError fault) {
        return false;
    }

    /**
     * Prepares for the engine's sleep: from now on news of any kind (bytes that {@linkplain
     * ProtocolConnection#receiveInterest interest}, room for a send that was {@link LinkStatus#PENDING}, posted memory that
     * comes back, a lost peer)
     * ends the sleep in the reactor. Looks once more after arming.
     *
     * @return false if there is news already, and the engine must not sleep
     */
    boolean armForBlocking();

    /**
     * How long the engine may sleep at a stretch before it looks again, in nanoseconds, though nothing woke it. Unlike a {@link Demand}'s
     * deadline it has nobody sleep, and poll, who would not anyway.
     */
    default long longestSleepNs() {
        return Long.MAX_VALUE;
    }

    /** Takes the preparation back; called after each {@link #armForBlocking()} and {@link #rearm()}, whatever it answered. */
    void disarm();

    /**
     * Takes the preparation back for a moment, most likely: a thread that waits for itself polls in place of the one that sleeps.
     * What makes {@link #rearm()} expensive is better put off until it is worth it.
     */
    default void disarmForAMoment() {
        disarm();
    }

    /**
     * As {@link #armForBlocking()}, for a thread that slept before and has not been woken: it sleeps on in the reactor, where what
     * was registered or changed meanwhile may not be watched. Only if that, and what it costs, does not matter: a few dozen
     * nanoseconds, in a thread that has better things to do.
     *
     * @return false if there is news already, or if the sleeper has to be woken so that it prepares all anew
     */
    default boolean rearm() {
        return false;
    }
}
