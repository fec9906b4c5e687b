package io.madeleine.session;

import io.madeleine.api.LaunchedProcess;
import io.madeleine.api.SessionException;
import java.util.List;

/**
 * Where a process finds the others of its session: a small space in which all of them put values and from which each
 * gets those of all, and the source of news about their lives. A launcher and rank 0 of a static list provide it
 * today; process managers can be other ways.
 *
 * <p>Threading: exchanges are made by the thread that opens the session; leaving and closing may be asked by any.
 */
interface Bootstrap extends AutoCloseable {
    /** What a process hears of the others, from a thread of the bootstrap. */
    interface Events {
        /** A process is dead. */
        void peerDied(int rank, String reason);

        /** A process left of its own will; its connections end, and that is no failure. */
        void peerLeft(int rank);

        /** The others take this process for dead. */
        void givenUp(String reason);

        /** There will be no more news: the launcher, say, is gone. */
        void newsLost(String reason);
    }

    /** What a process does when the session is aborted. */
    @FunctionalInterface
    interface EndListener {
        /** All processes are to end. From a thread of the bootstrap, or the one that calls {@link Bootstrap#end}; returns soon. */
        void ended(ControlMessage.End end);
    }

    /** The session's id, equal in all its processes and unlike any other's. */
    String sessionId();

    /** Begins to tell news, also those of before. */
    void listen(Events events);

    /**
     * Gives a value and waits for everybody's; with empty values, a barrier.
     *
     * @param key what each has done that has given its value, in words that follow "it has"; the same in all processes, used once
     * @param value at most {@link ControlMessage#MAX_VALUE_BYTES} bytes
     * @return the values by rank
     * @throws io.madeleine.api.SessionException at the deadline, naming who is missing, or when a process died or gave up
     */
    List<byte[]> exchange(String key, byte[] value, long deadlineNs);

    /** Tells a process that this one has lost its connection with it, or knows of its death. */
    default void lost(int rank, String reason) {}

    /**
     * Has the launcher start processes.
     *
     * @throws io.madeleine.api.SessionException if it cannot
     */
    default List<LaunchedProcess> launch(LaunchSpec spec) {
        throw new SessionException("there is no launcher that could start processes");
    }

    /** Says who has to know when the session is aborted, also if it has been. */
    void onEnd(EndListener listener);

    /** Tells everybody, this process too, that all processes are to end; the first who says so counts. */
    void end(int code, String reason);

    /** Tells the others that the session cannot be opened. */
    void abort(String reason);

    /** Leaves of the process's own will. Does nothing after {@link #abort}. */
    @Override
    void close();
}
