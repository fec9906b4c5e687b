package io.madeleine.tm.sci;

import io.madeleine.api.SessionException;
import io.madeleine.pmm.spi.ConnectionRequest;
import io.madeleine.pmm.spi.ProcessContext;
import io.madeleine.pmm.spi.ProcessIdentity;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The processes of this host that this one has to do with, and the lines between their bells: one for each pair of
 * processes, dialled by the one with the lower identity.
 *
 * <p>Threading: thread-safe by a lock of its own, under which no stranger is called; bells call on the reactor's thread.
 */
final class SciPeers implements Bell.Keeper, AutoCloseable {
    private final SessionDirectory directory;
    private final SciAddress address;
    private final ProcessContext context;
    private final long proof;
    private final SciProgress progress;
    private final Runnable whenGone;
    private final BellListener listener;

    private final ReentrantLock lock = new ReentrantLock();
    private final Map<FileStem, SciPeer> peers = new HashMap<>();

    /** The lines of callers that this process has not asked for yet. */
    private final Map<FileStem, Bell> unclaimedBells = new HashMap<>();

    /** Those of them that have ended. */
    private final Set<FileStem> endedCallers = new HashSet<>();

    /** Processes that were forgotten and whose files may still be there: a line ends a little before its process. */
    private final Set<FileStem> unswept = new HashSet<>();

    /** {@code whenGone} is called when a process has ended, under no lock. */
    SciPeers(SessionDirectory directory, ProcessContext context, long proof, SciProgress progress, Runnable whenGone) {
        this.directory = directory;
        this.address = directory.address();
        this.context = context;
        this.proof = proof;
        this.progress = progress;
        this.whenGone = whenGone;
        this.listener = BellListener.open(
                directory.file(SessionDirectory.BELL), context.reactor(), this, proof, context.logger());
    }

    SciAddress address() {
        return address;
    }

    /** Why a process with this address cannot be reached, or empty. */
    Optional<String> unreachable(String peerAddress) {
        return SciAddress.parse(peerAddress)
                .map(address::unreachable)
                .orElseGet(() -> Optional.of("its address is not one of sci: " + peerAddress));
    }

    /**
     * The peer of a connection.
     *
     * @throws SessionException if it is not there
     */
    SciPeer find(ConnectionRequest request) {
        unreachable(request.peerAddress()).ifPresent(reason -> {
            throw new SessionException("process " + request.peer() + " cannot be reached by sci: " + reason);
        });
        FileStem stem = SciAddress.parse(request.peerAddress())
                .map(SciAddress::stem)
                .filter(parsed -> parsed.identity().equals(request.peer()))
                .orElseThrow(() -> new SessionException("process " + request.peer()
                        + " cannot be reached by sci: its address is another's: " + request.peerAddress()));
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
        Bell bell = unclaimedBells.remove(stem);
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
            peer.attach(Bell.dial(
                    directory.file(peer.stem(), SessionDirectory.BELL),
                    directory.stem(),
                    context.reactor(),
                    this,
                    proof));
        } catch (IOException e) {
            peer.close();
            throw e;
        }
    }

    /** The process of that stem, if this one has to do with it. */
    @Nullable
    SciPeer known(FileStem stem) {
        lock.lock();
        try {
            return peers.get(stem);
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void onHello(Bell bell, FileStem caller) {
        lock.lock();
        try {
            SciPeer peer = peers.get(caller);
            if (peer == null) {
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
    public void onSilence(Bell bell) {
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
     * Forgets processes that have ended, or were never heard of, and to which nothing is left, unless they are in use
     * elsewhere; and removes the files of those that were killed.
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
        } finally {
            lock.unlock();
        }
    }

    /** Gives up the connections to processes whose inboxes were cut short; whether there are any. */
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

    int count() {
        return peers.size();
    }

    /** Falls silent without a goodbye, as the system makes a process that ends. For tests. */
    void silence() {
        peers.values().forEach(SciPeer::silence);
    }

    @Override
    public void close() {
        listener.close();
        peers.values().forEach(SciPeer::close);
        unclaimedBells.values().forEach(Bell::close);
    }
}
