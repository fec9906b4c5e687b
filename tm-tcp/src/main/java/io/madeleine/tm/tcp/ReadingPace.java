package io.madeleine.tm.tcp;

/**
 * How often the leader tries to read a connection: while it is <i>hot</i> (something came lately) in each round, and less and less
 * often as nothing comes; when it is cold, the reactor watches it.
 *
 * <p>Threading: belongs to the leader; {@link #isHot} and {@link #isWatched} are hints for others.
 */
final class ReadingPace {
    /** So many rounds in vain until the connection is read in every second, fourth, ... round only. */
    private static final int EAGER_ROUNDS = 256;

    private static final int PATIENT_ROUNDS = 32;
    private static final int MAX_INTERVAL = 64;

    /** After so many reads without a sleep the reactor need not watch the socket, too. */
    private static final int UNWATCH_AFTER = 16;

    private volatile boolean hot;
    private volatile boolean watched;
    private int countdown;
    private int idleRounds;
    private int successes;

    boolean isHot() {
        return hot;
    }

    /** Whether the reactor watches it although it is hot. */
    boolean isWatched() {
        return watched;
    }

    void heat() {
        idleRounds = 0;
        countdown = 1;
        if (!hot) {
            watched = true; // still is
            successes = 0;
            hot = true;
        }
    }

    void cool() {
        hot = false;
    }

    /** Counts the rounds; returns whether the connection is to be read in this one. */
    boolean isDue() {
        if (--countdown > 0) {
            return false;
        }
        countdown = 1;
        return true;
    }

    /** Something came; returns whether the reactor need not watch any more. */
    boolean succeeded() {
        idleRounds = 0;
        if (watched && ++successes >= UNWATCH_AFTER) {
            watched = false;
            return true;
        }
        return false;
    }

    /** Nothing came; returns whether the connection has become cold, and the reactor is to watch it. */
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

    /** The engine sleeps, so that the reactor has to watch for longer. */
    void armed() {
        successes = 0;
    }
}
