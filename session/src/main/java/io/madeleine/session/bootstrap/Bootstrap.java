package io.madeleine.session.bootstrap;

import io.madeleine.api.LaunchedProcess;
import io.madeleine.api.SessionException;
import java.util.List;

/**
 * How a process finds the others of its session. Offers exchanges, in which every process contributes a value and
 * receives the values of all, and reports which processes leave or die. A launcher, or rank 0 of a session without
 * launcher, provides it; a process manager could be another implementation.
 *
 * <p>Threading: the thread that opens the session makes the exchanges; any thread may call the other methods.
 */
public interface Bootstrap extends AutoCloseable {
    /** Receives events about other processes, in a thread of the bootstrap. */
    interface Events {
        /** A process is dead. */
        void peerDied(int rank, String reason);

        /** A process that is alive has lost its connection to this process, and has given it up. */
        void peerGaveUp(int rank, String reason);

        /** A process closed its session. Its connections end, which is no failure. */
        void peerLeft(int rank);

        /** The session cannot be opened: another process could not open it, for instance. A sentence. */
        void cannotOpen(String reason);

        /** The other processes consider this process dead. */
        void givenUp(String reason);

        /** No further events will come, for instance because the launcher is gone. */
        void newsLost(String reason);
    }

    /** Reacts to an abort of the session. */
    @FunctionalInterface
    interface EndListener {
        /**
         * All processes of the session have to end. Must return soon. Called by a thread of the bootstrap, or by the
         * thread that calls {@link Bootstrap#end}.
         */
        void ended(ControlMessage.SessionAbort end);
    }

    /** The session's id: the same in all its processes, different from that of any other session. */
    String sessionId();

    /** Sets the listener and delivers the events that came before. */
    void listen(Events events);

    /**
     * Contributes a value and waits for the values of all processes. With empty values this is a barrier.
     *
     * @param key what a process has done when it contributes, in words that follow "it has"; the same in all processes,
     *     used once
     * @param value at most {@link ControlMessage#MAX_VALUE_BYTES} bytes
     * @param deadlineNs the end of the wait, as {@link System#nanoTime}
     * @return the values by rank
     * @throws io.madeleine.api.SessionException at the deadline, naming the missing processes; or when a process died,
     *     left or failed to open the session
     */
    List<byte[]> exchange(String key, byte[] value, long deadlineNs);

    /** Tells another process that this one has lost its connection to it, or considers it dead for another reason. */
    default void lost(int rank, String reason) {}

    /**
     * Asks the launcher to start processes.
     *
     * @throws io.madeleine.api.SessionException if it cannot
     */
    default List<LaunchedProcess> launch(LaunchSpec spec) {
        throw new SessionException("there is no launcher that could start processes");
    }

    /** Sets the listener for an abort and calls it if the session has already been aborted. */
    void onEnd(EndListener listener);

    /** Aborts the session: tells all processes, this one included, to end. The first abort counts. */
    void end(int code, String reason);

    /** Tells the other processes that this one cannot open the session. */
    void abort(String reason);

    /** Leaves the session. Does nothing after {@link #abort}. */
    @Override
    void close();
}
