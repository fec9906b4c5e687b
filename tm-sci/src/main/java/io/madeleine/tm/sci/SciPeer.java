package io.madeleine.tm.sci;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;

/**
 * Another process of the session on this host: its inbox, the line to its doorbell, and the connections to it.
 *
 * <p>Threading: {@link #announce} thread-safe; the rest control path, under the adapter's lock.
 */
final class SciPeer {
    private final FileStem stem;
    private final Inbox inbox;
    private final List<SciConnection> connections = new CopyOnWriteArrayList<>();
    private volatile @Nullable Bell bell;
    private volatile long wantedSleep;
    private volatile boolean gone;

    SciPeer(FileStem stem, Inbox inbox) {
        this.stem = stem;
        this.inbox = inbox;
    }

    FileStem stem() {
        return stem;
    }

    /**
     * Sets the flag of a slot in the peer's inbox, and wakes the peer if it sleeps. The caller has passed a full fence.
     */
    void announce(int slot) {
        long sleep = announceSilently(slot);
        if (sleep != 0) {
            ring(sleep);
        }
    }

    /**
     * Sets the flag only; returns the number of the sleep from which the caller has to {@linkplain #ring wake} the
     * peer, or 0.
     */
    long announceSilently(int slot) {
        try {
            return inbox.announce(slot);
        } catch (IllegalStateException _) {
            return 0; // The peer has ended, and another thread has forgotten it.
        } catch (InternalError e) {
            if (!lookAtInbox()) {
                throw e;
            }
            return 0;
        }
    }

    void ring(long sleep) {
        Bell line = bell;
        if (line == null) {
            wantedSleep = sleep;
            line = bell; // Another thread may have attached it since.
        }
        if (line != null) {
            line.ring(sleep);
        }
    }

    void attach(Bell line) {
        bell = line;
        if (wantedSleep != 0) {
            line.ring(wantedSleep);
        }
    }

    boolean hasBell() {
        return bell != null;
    }

    boolean has(Bell line) {
        return bell == line;
    }

    List<SciConnection> connections() {
        return connections;
    }

    /** Notes that the process has ended. */
    void setGone() {
        gone = true;
    }

    boolean isGone() {
        return gone;
    }

    /**
     * Checks whether the peer's inbox was cut short, so that nobody can wake the peer; if so, gives up the connections
     * to it.
     */
    boolean lookAtInbox() {
        if (inbox.isWhole()) {
            return false;
        }
        inbox.giveUpFile();
        connections.forEach(connection -> connection.cutOff("the inbox of its process was cut short by somebody"));
        return true;
    }

    /** Closes the line to the peer's doorbell. */
    void silence() {
        Bell line = bell;
        if (line != null) {
            line.close();
        }
    }

    void close() {
        silence();
        inbox.close();
    }
}
