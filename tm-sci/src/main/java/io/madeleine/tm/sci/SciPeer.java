package io.madeleine.tm.sci;

import io.madeleine.tm.sci.files.FileStem;
import io.madeleine.tm.sci.link.SciConnection;
import io.madeleine.tm.sci.wake.Doorbell;
import io.madeleine.tm.sci.wake.Inbox;
import io.madeleine.tm.sci.wake.PeerLine;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Another process of the session on this host: its inbox, the line to its doorbell, and the connections to it.
 *
 * <p>Threading: {@link #announce} thread-safe; the rest control path, under the adapter's lock.
 */
final class SciPeer implements PeerLine {
    private final FileStem stem;
    private final Inbox inbox;
    private final List<SciConnection> connections = new CopyOnWriteArrayList<>();
    private volatile @Nullable Doorbell bell;
    private volatile long wantedSleep;
    private volatile boolean gone;

    SciPeer(FileStem stem, Inbox inbox) {
        this.stem = stem;
        this.inbox = inbox;
    }

    @Override
    public FileStem stem() {
        return stem;
    }

    @Override
    public void announce(int slot) {
        long sleep = announceSilently(slot);
        if (sleep != 0) {
            ring(sleep, () -> false); // this process does not see what of it was read
        }
    }

    @Override
    public long announceSilently(int slot) {
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

    @Override
    public void ring(long sleep, BooleanSupplier isAllRead) {
        if (isRingNeeded(sleep, isAllRead)) {
            ringAtOnce(sleep);
        }
    }

    private boolean isRingNeeded(long sleep, BooleanSupplier isAllRead) {
        try {
            return inbox.isRingNeeded(sleep, isAllRead);
        } catch (IllegalStateException _) {
            return true; // The peer has ended: a ring does no harm.
        } catch (InternalError e) {
            if (!lookAtInbox()) {
                throw e;
            }
            return true;
        }
    }

    private void ringAtOnce(long sleep) {
        Doorbell line = bell;
        if (line == null) {
            wantedSleep = sleep;
            line = bell; // Another thread may have attached it since.
        }
        if (line != null) {
            line.ring(sleep);
        }
    }

    void attach(Doorbell line) {
        bell = line;
        if (wantedSleep != 0) {
            line.ring(wantedSleep);
        }
    }

    boolean hasBell() {
        return bell != null;
    }

    boolean has(Doorbell line) {
        return bell == line;
    }

    List<SciConnection> connections() {
        return connections;
    }

    /** Notes that the process has ended. */
    void setGone() {
        gone = true;
    }

    @Override
    public boolean isGone() {
        return gone;
    }

    @Override
    public boolean lookAtInbox() {
        if (inbox.isWhole()) {
            return false;
        }
        inbox.giveUpFile();
        connections.forEach(connection -> connection.cutOff("the inbox of its process was cut short by somebody"));
        return true;
    }

    /** Closes the line to the peer's doorbell. */
    void silence() {
        Doorbell line = bell;
        if (line != null) {
            line.close();
        }
    }

    void close() {
        silence();
        inbox.close();
    }
}
