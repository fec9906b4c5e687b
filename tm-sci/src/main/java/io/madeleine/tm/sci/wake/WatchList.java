package io.madeleine.tm.sci.wake;

import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The connections that were busy lately. The polling thread polls them directly. Meanwhile their senders need not
 * announce what they send: a sender reads the receiver's watch word without a fence, so a message costs none.
 *
 * <p>The receiver pays for this when it stops watching, which is rare. A sender may have read the old watch word while
 * its packet is still in its processor's store buffer. So the receiver polls on for {@link #SETTLE_NS} after it has
 * cleared the word; that is a hundred times what a store takes to become visible. No architecture guarantees such a
 * time, so {@link SciProgress} also polls all connections within a tenth of a second after one was watched.
 *
 * <p>Threading: the polling thread.
 */
public final class WatchList {
    /** How long the receiver polls on after it has cleared its watch word. */
    public static final long SETTLE_NS = 10_000;

    private static final int FIRST_CAPACITY = 16;

    private final int idleLooks;
    private @Nullable Watched[] connections = new Watched[FIRST_CAPACITY];
    private int count;
    private boolean hasWatched;

    /**
     * Creates an empty list.
     *
     * @param idleLooks the number of polls without data after which a connection leaves the list, shared by all
     *     connections on it
     */
    WatchList(int idleLooks) {
        this.idleLooks = idleLooks;
    }

    private Watched get(int i) {
        return Objects.requireNonNull(connections[i]);
    }

    /** Puts a connection on the list, and sets its watch word. */
    void add(Watched connection) {
        if (!connection.isListed()) {
            list(connection);
        } else if (!connection.isUnwatched()) {
            return;
        }
        connection.watch();
        hasWatched = true;
    }

    /** Whether a connection is watched, or was since {@link #forgetWatched}: its announcements may have been missed. */
    boolean hasWatched() {
        return hasWatched;
    }

    /** Forgets the connections that were watched and have left the list. */
    void forgetWatched() {
        hasWatched = count > 0;
    }

    /**
     * Puts a connection on the list without setting its watch word: the peer still announces what it sends, and has
     * announced what lies there. The connection may leave as soon as that has been read.
     */
    void addAnnounced(Watched connection) {
        if (!connection.isListed()) {
            list(connection);
        }
    }

    private void list(Watched connection) {
        if (count == connections.length) {
            connections = Arrays.copyOf(connections, 2 * count);
        }
        connections[count++] = connection;
        connection.setListed(true);
    }

    /** Polls all connections on the list; returns the number of events handled. */
    int poll() {
        int work = 0;
        for (int i = count - 1; i >= 0; i--) {
            if (i < count) { // A handler that waits polls within this poll, which can shorten the list.
                work += poll(i);
            }
        }
        return work;
    }

    private int poll(int i) {
        Watched connection = get(i);
        if (connection.isClosed()) {
            remove(i);
            return 0;
        }
        int work = connection.deliver();
        if (work == 0 && connection.countIdlePoll() > idleLooks / count && startLeaving(i) && connection.isSettled()) {
            leave(i);
        }
        return work;
    }

    /**
     * Clears the watch word, so that the connection may leave the list once it has settled. A connection from which no
     * thread wants to read leaves at once.
     *
     * @return whether the connection is still on the list
     */
    private boolean startLeaving(int i) {
        Watched connection = get(i);
        if (connection.isClosed() || !connection.isInterested()) {
            // The peer need not announce what no thread wants to read; a reader that becomes interested announces it.
            leave(i);
            return false;
        }
        if (!connection.isUnwatched()) {
            connection.unwatch();
        }
        return true;
    }

    /**
     * Takes a connection off the list. Puts it back if data has arrived, if it has not settled, or if a reader has
     * become interested and did not announce this because the connection was on the list.
     *
     * @return whether the connection is off the list
     */
    private boolean leave(int i) {
        Watched connection = get(i);
        remove(i);
        if (!connection.isClosed()
                && connection.isInterested()
                && (!connection.isSettled() || connection.isReadable())) {
            add(connection);
            return false;
        }
        return true;
    }

    private void remove(int i) {
        Watched connection = get(i);
        connections[i] = connections[--count];
        connections[count] = null;
        connection.setListed(false);
    }

    /**
     * Takes all connections off the list, before the engine sleeps.
     *
     * @return false if there is data to read; some connections are on the list then
     */
    boolean leaveAll() {
        for (int i = count - 1; i >= 0; i--) {
            startLeaving(i);
        }
        if (isAnyWatched()) {
            return false; // A reader became interested just as its connection left: the connection is back, watched.
        }
        while (!haveSettled()) {
            if (anyReadable()) {
                return false;
            }
            Thread.onSpinWait();
        }
        boolean quiet = true;
        for (int i = count - 1; i >= 0; i--) {
            quiet &= leave(i);
        }
        return quiet;
    }

    /**
     * Takes connections off the list that have settled and have no data, without waiting.
     *
     * @return false if some are left on the list
     */
    boolean leaveSettled() {
        for (int i = count - 1; i >= 0; i--) {
            Watched connection = get(i);
            if (!connection.isClosed() && !connection.isSettled()) {
                return false;
            }
            remove(i);
            if (!connection.isClosed() && connection.isInterested() && connection.isReadable()) {
                addAnnounced(connection);
                return false;
            }
        }
        return true;
    }

    private boolean isAnyWatched() {
        for (int i = 0; i < count; i++) {
            if (!get(i).isUnwatched()) {
                return true;
            }
        }
        return false;
    }

    private boolean haveSettled() {
        for (int i = 0; i < count; i++) {
            if (!get(i).isSettled()) {
                return false;
            }
        }
        return true;
    }

    private boolean anyReadable() {
        for (int i = 0; i < count; i++) {
            Watched connection = get(i);
            if (!connection.isClosed() && connection.isReadable()) {
                return true;
            }
        }
        return false;
    }

    /** Removes a connection, before its memory is freed. */
    void forget(Watched connection) {
        for (int i = count - 1; i >= 0; i--) {
            if (connections[i] == connection) {
                remove(i);
            }
        }
    }
}
