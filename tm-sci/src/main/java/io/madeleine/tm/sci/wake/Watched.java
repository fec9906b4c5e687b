package io.madeleine.tm.sci.wake;

/**
 * A connection, as the thread that polls it sees it. There is one implementation, so that the compiler of the JVM can
 * resolve all calls.
 *
 * <p>Threading: the thread that holds the lead, unless a method says otherwise.
 */
public interface Watched {
    /** The slot of the connection in the inbox of this process. */
    int slot();

    /** Whether the memory must not be accessed. */
    boolean isClosed();

    /** Whether a thread wants to read from the connection. */
    boolean isInterested();

    /** Whether a link has data to read. */
    boolean isReadable();

    /** Lets the layer above read, if it is interested and there is data; returns the number of events it handled. */
    int deliver();

    /** Checks whether the peer has finished, closed, died or broken the protocol, and reports the loss once. */
    void lookAtPeer();

    /** Reports the loss if the segment was cut short and the user has not closed the connection. */
    void reportIfCutOff();

    /**
     * Checks, after an {@link InternalError} of the JVM, whether the segment's file was cut short; if so, ends the
     * connection. Any thread.
     *
     * @return whether the memory must not be accessed
     */
    boolean isCutOff();

    /** Ends the connection without access to its memory, except for one attempt to tell the peer. */
    void cutOff(String reason);

    /** Whether the connection is on the watch list. */
    boolean isListed();

    /** Notes whether the connection is on the watch list. */
    void setListed(boolean onList);

    /** Sets the watch word: the peer need not announce what it sends. */
    void watch();

    /**
     * Clears the watch word: the peer has to announce what it sends from now on. The caller has to poll for what the
     * peer sent before it saw this, until the connection {@linkplain #isSettled has settled}.
     */
    void unwatch();

    /** Whether the watch word is cleared. */
    boolean isUnwatched();

    /**
     * Whether the peer announces what it sends, and everything has become visible that it sent before it saw that it
     * has to.
     */
    boolean isSettled();

    /** Counts polls that found nothing; returns the count, this one included. */
    int countIdlePoll();

    /**
     * Notes an announcement. One that a reader of this process made, and that brings no data, does not count: it is no
     * sign of a busy peer.
     *
     * @return the number of consecutive announcements, each less than {@code withinNs} after the one before
     */
    int noteAnnouncement(long nowNs, long withinNs);

    /**
     * Whether the announcement was only for a message that has been read since, or that no thread wants yet. A reader
     * that becomes interested announces the latter again. A connection is not quiet if a thread wants to read from it
     * and its peer announces nothing: it has to go onto the watch list.
     */
    boolean isQuiet();

    /** Asks the peer to announce room, then checks whether a stalled link has room already, or can never send again. */
    boolean isStallOver();

    /** Releases peer memory that is no longer of use. Called ten times a second, or less often if idle. */
    void tidy();
}
