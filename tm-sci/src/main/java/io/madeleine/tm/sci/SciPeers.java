package io.madeleine.tm.sci;

import io.madeleine.api.SessionException;
import io.madeleine.pmm.spi.ConnectionRequest;
import io.madeleine.pmm.spi.ProcessContext;
import io.madeleine.pmm.spi.ProcessIdentity;
import io.madeleine.tm.sci.files.FileStem;
import io.madeleine.tm.sci.files.SciAddress;
import io.madeleine.tm.sci.files.SessionDirectory;
import io.madeleine.tm.sci.link.SciConnection;
import io.madeleine.tm.sci.wake.Doorbell;
import io.madeleine.tm.sci.wake.DoorbellListener;
import io.madeleine.tm.sci.wake.Inbox;
import io.madeleine.tm.sci.wake.InboxLayout;
import io.madeleine.tm.sci.wake.SciProgress;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The other processes of the session on this host, and the doorbell lines to them. There is one line for each pair of
 * processes; the process with the lower identity dials.
 *
 * <p>Threading: thread-safe by a lock of its own; no callback runs under it. Bells call on the reactor's thread.
 */
final class SciPeers implements Doorbell.Keeper, AutoCloseable {
    private final SessionDirectory directory;
    private final SciAddress address;
    private final ProcessContext context;
    private final long proof;
    private final SciProgress progress;
    private final Runnable whenGone;
    private final DoorbellListener listener;

    private final ReentrantLock lock = new ReentrantLock();
    private final Map<FileStem, SciPeer> peers = new HashMap<>();

    /** Lines of callers that this process has no peer object for yet. */
    private final Map<FileStem, Doorbell> unclaimedBells = new HashMap<>();

    /**
     * Callers whose line ended before this process had a peer object for them. They are forgotten once their files are
     * gone, because then no process can connect to them.
     */
    private final Set<FileStem> endedCallers = new HashSet<>();

    /** Forgotten processes whose files may still exist: a line ends shortly before its process. */
    private final Set<FileStem> unswept = new HashSet<>();

    private boolean closed;

    /**
     * Opens the listener for doorbell lines.
     *
     * @param whenGone called when a process has ended; no lock is held
     */
    SciPeers(SessionDirectory directory, ProcessContext context, long proof, SciProgress progress, Runnable whenGone) {
        this.directory = directory;
        this.address = directory.address();
        this.context = context;
        this.proof = proof;
        this.progress = progress;
        this.whenGone = whenGone;
        this.listener = DoorbellListener.open(
                directory.file(SessionDirectory.BELL), context.reactor(), this, proof, context.logger());
    }

    SciAddress address() {
        return address;
    }

    /** Says why a process with this address cannot be reached; empty if it can. */
    Optional<String> unreachable(String peerAddress) {
        return SciAddress.parse(peerAddress)
                .map(address::unreachable)
                .orElseGet(() -> Optional.of("its address is not an address of sci: " + peerAddress));
    }

    /**
     * Finds or creates the peer object for a connection request.
     *
     * @throws SessionException if the peer cannot be reached
     */
    SciPeer find(ConnectionRequest request) {
        unreachable(request.peerAddress()).ifPresent(reason -> {
            throw new SessionException("process " + request.peer() + " cannot be reached by sci: " + reason);
        });
        FileStem stem = SciAddress.parse(request.peerAddress())
                .map(SciAddress::stem)
                .filter(parsed -> parsed.identity().equals(request.peer()))
                .orElseThrow(() -> new SessionException("process " + request.peer()
                        + " cannot be reached by sci: its address belongs to another process: "
                        + request.peerAddress()));
        lock.lock();
        try {
            SciPeer known = peers.get(stem);
            return known == null ? meet(stem) : known;
        } finally {
            lock.unlock();
        }
    }

    private SciPeer meet(FileStem stem) {
        SciPeer peer;
        try {
            peer = new SciPeer(stem, Inbox.open(directory.file(stem, SessionDirectory.INBOX)));
            if (dials(stem.identity())) {
                dial(peer);
            }
        } catch (IOException e) {
            throw new SessionException(
                    "process " + context.self() + " cannot reach process " + stem.identity() + " in " + directory.path()
                            + ": " + e + "; has it ended?",
                    e);
        }
        Doorbell bell = unclaimedBells.remove(stem);
        if (bell != null) {
            peer.attach(bell);
        }
        if (endedCallers.contains(stem)) {
            peer.setGone();
        }
        peers.put(stem, peer);
        return peer;
    }

    private boolean dials(ProcessIdentity peer) {
        ProcessIdentity self = context.self();
        int order = Long.compareUnsigned(self.id(), peer.id());
        return order != 0 ? order < 0 : self.incarnation() < peer.incarnation();
    }

    private void dial(SciPeer peer) throws IOException {
        try {
            peer.attach(Doorbell.dial(
                    directory.file(peer.stem(), SessionDirectory.BELL),
                    directory.stem(),
                    context.reactor(),
                    this,
                    proof));
        } catch (IOException | RuntimeException | Error e) {
            peer.close();
            throw e;
        }
    }

    /** Returns a check whether the process with that stem has ended; null if this process has no peer object for it. */
    @Nullable
    BooleanSupplier end(FileStem stem) {
        lock.lock();
        try {
            SciPeer peer = peers.get(stem);
            return peer == null ? null : peer::isGone;
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void onHello(Doorbell bell, FileStem caller) {
        lock.lock();
        try {
            SciPeer peer = peers.get(caller);
            if (closed) {
                bell.close();
            } else if (peer == null) {
                unclaimedBells.put(caller, bell);
            } else {
                peer.attach(bell);
            }
        } finally {
            lock.unlock();
        }
        progress.announceToSelf(InboxLayout.CONTROL_SLOT);
    }

    @Override
    public void onSilence(Doorbell bell) {
        List<SciConnection> lost = new ArrayList<>();
        lock.lock();
        try {
            unclaimedBells.entrySet().removeIf(entry -> entry.getValue() == bell && endedCallers.add(entry.getKey()));
            for (SciPeer peer : peers.values()) {
                if (peer.has(bell)) {
                    peer.setGone();
                    lost.addAll(peer.connections());
                }
            }
        } finally {
            lock.unlock();
        }
        lost.forEach(SciConnection::lookAtPeer);
        whenGone.run();
        progress.announceToSelf(InboxLayout.CONTROL_SLOT);
    }

    /**
     * Forgets peers that have ended, or that never dialled, if no connection and nothing else uses them. Removes the
     * files of those that were killed.
     *
     * @param isInUse whether something else uses the peer
     */
    void forgetGone(Predicate<SciPeer> isInUse) {
        lock.lock();
        try {
            for (SciPeer peer : List.copyOf(peers.values())) {
                boolean lost = peer.isGone() || !peer.hasBell();
                if (lost && peer.connections().isEmpty() && !isInUse.test(peer)) {
                    peers.remove(peer.stem());
                    peer.close();
                    unswept.add(peer.stem());
                }
            }
            unswept.removeIf(directory::removeIfDead);
            endedCallers.removeIf(directory::removeIfDead);
        } finally {
            lock.unlock();
        }
    }

    /** Gives up the connections to processes whose inboxes were cut short; returns whether there are any. */
    boolean lookAtInboxes() {
        lock.lock();
        try {
            boolean cut = false;
            for (SciPeer peer : peers.values()) {
                cut |= peer.lookAtInbox();
            }
            return cut;
        } finally {
            lock.unlock();
        }
    }

    /** The number of processes with a peer object. For tests. */
    int count() {
        lock.lock();
        try {
            return peers.size();
        } finally {
            lock.unlock();
        }
    }

    /** The number of processes that called and ended, and are not forgotten yet. For tests. */
    int endedCallers() {
        lock.lock();
        try {
            return endedCallers.size();
        } finally {
            lock.unlock();
        }
    }

    /** Closes all lines without a goodbye, as the system does for a process that ends. For tests. */
    void silence() {
        lock.lock();
        try {
            peers.values().forEach(SciPeer::silence);
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void close() {
        listener.close();
        lock.lock();
        try {
            closed = true;
            peers.values().forEach(SciPeer::close);
            unclaimedBells.values().forEach(Doorbell::close);
        } finally {
            lock.unlock();
        }
    }
}
