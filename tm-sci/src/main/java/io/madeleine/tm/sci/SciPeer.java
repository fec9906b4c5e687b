package io.madeleine.tm.sci;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;

/**
 * Another process of this host: its inbox, the line to its bell, and the connections to it.
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

    /** Sets the flag of a slot of the peer's, and wakes the peer if it sleeps. A full fence lies before the call. */
    void announce(int slot) {
        long sleep = announceSilently(slot);
        if (sleep != 0) {
            ring(sleep);
        }
    }

    /** Sets the flag alone; returns the number of the sleep from which the peer is to be {@linkplain #ring woken}, or 0. */
    long announceSilently(int slot) {
        try {
            return inbox.announce(slot);
        } catch (IllegalStateException _) {
            return 0; // it has ended, and was forgotten meanwhile by another thread
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
            line = bell; // attached meanwhile?
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

    /** Whether its inbox is cut short, so that nobody can tell it anything; then its connections are given up. */
    boolean lookAtInbox() {
        if (inbox.isWhole()) {
            return false;
        }
        inbox.giveUpFile();
        connections.forEach(connection -> connection.cutOff("the inbox of its process was cut short by somebody"));
        return true;
    }

    /** Lets the line to the peer's bell go. */
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
