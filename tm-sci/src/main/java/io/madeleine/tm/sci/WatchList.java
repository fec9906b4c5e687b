package io.madeleine.tm.sci;

import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The connections that have been busy lately, which are looked at directly. Meanwhile their peers need not announce what
 * they send, nor, since they look whether they need to without a fence, does a message cost one.
 *
 * <p>What that saves the sender the receiver pays when he looks away, which is rare: a sender may just have read the old
 * word while his packet is still on its way out of his processor. So the receiver keeps looking for {@link #SETTLE_NS}
 * after he has changed the word, a hundred times what a store takes to get out. No architecture promises such a time:
 * {@link SciProgress} looks at all connections now and then besides.
 *
 * <p>Threading: the thread that polls.
 */
final class WatchList {
    static final long SETTLE_NS = 10_000;

    private static final int FIRST_CAPACITY = 16;

    private final int idleLooks;
    private @Nullable SciConnection[] connections = new SciConnection[FIRST_CAPACITY];
    private int count;

    /** A connection leaves the list after so many looks without news, shared between all on it. */
    WatchList(int idleLooks) {
        this.idleLooks = idleLooks;
    }

    private SciConnection get(int i) {
        return Objects.requireNonNull(connections[i]);
    }

    /** Puts a connection on the list. */
    void add(SciConnection connection) {
        if (!connection.isListed()) {
            list(connection);
        } else if (!connection.isUnwatched()) {
            return;
        }
        connection.watch();
    }

    /**
     * Puts a connection on the list of which the peer still announces what it sends: what lies there has been announced already. It may
     * leave as soon as that has been read.
     */
    void addAnnounced(SciConnection connection) {
        if (!connection.isListed()) {
            list(connection);
        }
    }

    private void list(SciConnection connection) {
        if (count == connections.length) {
            connections = Arrays.copyOf(connections, 2 * count);
        }
        connections[count++] = connection;
        connection.setListed(true);
    }

    /** Looks at all; returns how many events that brought. */
    int poll() {
        int work = 0;
        for (int i = count - 1; i >= 0; i--) {
            if (i < count) { // a handler that waits polls within this poll
                work += poll(i);
            }
        }
        return work;
    }

    private int poll(int i) {
        SciConnection connection = get(i);
        if (connection.isClosed()) {
            remove(i);
            return 0;
        }
        int work = connection.readNews();
        if (work == 0 && connection.countIdlePoll() > idleLooks / count && startLeaving(i) && connection.isSettled()) {
            leave(i);
        }
        return work;
    }

    /** Has the peer announce from now on, so that the connection may leave once that has settled. */
    private boolean startLeaving(int i) {
        SciConnection connection = get(i);
        if (connection.isClosed() || !connection.isInterested()) {
            leave(i); // who becomes interested again announces it; the peer need not announce what nobody wants
            return false;
        }
        if (!connection.isUnwatched()) {
            connection.unwatch();
        }
        return true;
    }

    /**
     * Takes a connection off the list, unless there is news by now, or somebody has become interested who thought that it
     * was on the list; returns whether it is off.
     */
    private boolean leave(int i) {
        SciConnection connection = get(i);
        remove(i);
        if (!connection.isClosed() && connection.isInterested() && (!connection.isSettled() || connection.hasNews())) {
            add(connection);
            return false;
        }
        return true;
    }

    private void remove(int i) {
        SciConnection connection = get(i);
        connections[i] = connections[--count];
        connections[count] = null;
        connection.setListed(false);
    }

    /** Takes all off the list, before a sleep; false if there is news, and some are left on it. */
    boolean leaveAll() {
        for (int i = count - 1; i >= 0; i--) {
            startLeaving(i);
        }
        while (!haveSettled()) {
            if (haveNews()) {
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

    /** Takes those off the list that can leave at once, without news; false if some are left on it. */
    boolean leaveSettled() {
        for (int i = count - 1; i >= 0; i--) {
            SciConnection connection = get(i);
            if (!connection.isClosed() && !connection.isSettled()) {
                return false;
            }
            remove(i);
            if (!connection.isClosed() && connection.isInterested() && connection.hasNews()) {
                addAnnounced(connection);
                return false;
            }
        }
        return true;
    }

    private boolean haveSettled() {
        for (int i = 0; i < count; i++) {
            if (!get(i).isSettled()) {
                return false;
            }
        }
        return true;
    }

    private boolean haveNews() {
        for (int i = 0; i < count; i++) {
            SciConnection connection = get(i);
            if (!connection.isClosed() && connection.hasNews()) {
                return true;
            }
        }
        return false;
    }

    /** Forgets a connection whose memory is about to be freed. */
    void forget(SciConnection connection) {
        for (int i = count - 1; i >= 0; i--) {
            if (connections[i] == connection) {
                remove(i);
            }
        }
    }
}
