package io.madeleine.tm.tcp.stream;

/**
 * Decides how often the leader reads a connection. While it is <i>hot</i> (bytes came lately) the leader reads it in
 * each round, and with growing intervals as nothing comes. When it is cold, the reactor watches it.
 *
 * <p>Threading: belongs to the leader; {@link #isHot} and {@link #isWatched} are hints for others.
 */
final class PollBackoff {
    /** The number of rounds without bytes in which the connection is still read each time. */
    private static final int EAGER_ROUNDS = 256;

    /** The number of reads without bytes after which the interval doubles. */
    private static final int PATIENT_ROUNDS = 32;

    /** A connection whose interval would exceed this becomes cold. */
    private static final int MAX_INTERVAL = 64;

    /** After so many successful reads without a sleep, the reactor stops watching the socket. */
    private static final int UNWATCH_AFTER = 16;

    private volatile boolean hot;
    private volatile boolean watched;
    private int countdown;
    private int idleRounds;
    private int successes;

    boolean isHot() {
        return hot;
    }

    /** Whether the reactor watches the connection although it is hot. */
    boolean isWatched() {
        return watched;
    }

    void heat() {
        idleRounds = 0;
        countdown = 1;
        if (!hot) {
            watched = true; // the reactor watches a cold connection
            successes = 0;
            hot = true;
        }
    }

    void cool() {
        hot = false;
    }

    /** Counts a round; returns whether the leader reads the connection in it. */
    boolean isDue() {
        if (--countdown > 0) {
            return false;
        }
        countdown = 1;
        return true;
    }

    /** Counts a read that brought bytes; returns whether the reactor can stop watching. */
    boolean succeeded() {
        idleRounds = 0;
        if (watched && ++successes >= UNWATCH_AFTER) {
            watched = false;
            return true;
        }
        return false;
    }

    /** Counts a read without bytes; returns whether the connection has become cold and the reactor must watch it. */
    boolean failed() {
        if (++idleRounds <= EAGER_ROUNDS) {
            return false;
        }
        int doublings = (idleRounds - EAGER_ROUNDS) / PATIENT_ROUNDS + 1;
        if (1 << doublings <= MAX_INTERVAL) {
            countdown = 1 << doublings;
            return false;
        }
        hot = false;
        return true;
    }

    /** Counts a sleep of the engine: the reactor then keeps watching for longer. */
    void armed() {
        successes = 0;
    }
}
