package io.madeleine.tm.sci;

import io.madeleine.api.MadeleineException;
import io.madeleine.api.SessionException;
import io.madeleine.pmm.handshake.ConnectionManager;
import io.madeleine.pmm.handshake.HandshakeLimits;
import io.madeleine.pmm.spi.Adapter;
import io.madeleine.pmm.spi.ConnectionRequest;
import io.madeleine.pmm.spi.MemorySource;
import io.madeleine.pmm.spi.ProcessContext;
import io.madeleine.pmm.spi.ProcessIdentity;
import io.madeleine.pmm.spi.ProgressSource;
import io.madeleine.pmm.spi.ProtocolChannel;
import io.madeleine.pmm.spi.ProtocolConnection;
import io.madeleine.pmm.spi.RemoteMemory;
import io.madeleine.pmm.spi.TransmissionCapabilities;
import io.madeleine.tm.sci.files.Digests;
import io.madeleine.tm.sci.files.SessionDirectory;
import io.madeleine.tm.sci.link.PairSegment;
import io.madeleine.tm.sci.link.PairSizes;
import io.madeleine.tm.sci.link.SciCellLink;
import io.madeleine.tm.sci.link.SciConnection;
import io.madeleine.tm.sci.link.SciShortLink;
import io.madeleine.tm.sci.link.SingleCopy;
import io.madeleine.tm.sci.shared.SciRemoteMemory;
import io.madeleine.tm.sci.shared.SharedBlocks;
import io.madeleine.tm.sci.wake.Inbox;
import io.madeleine.tm.sci.wake.InboxLayout;
import io.madeleine.tm.sci.wake.SciProgress;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Predicate;

/**
 * The shared memory of this host for one session: the session directory, the channels, and the connections that are
 * being made, in use, or waiting to be freed.
 *
 * <p>Threading: control path, guarded by one lock; no callback runs under it. The polling thread frees connections,
 * because it polls them without their locks.
 */
final class SciAdapter implements Adapter, SciProgress.ControlWork {
    /**
     * Limits for handshakes with peers in the session directory, all of which are trusted. Only the deadline of the
     * connection request bounds a handshake, even if a peer is stopped.
     */
    private static final HandshakeLimits LIMITS =
            new HandshakeLimits(Long.MAX_VALUE / 4, InboxLayout.SLOTS, Long.MAX_VALUE / 4, "");

    private static final List<String> MODULES = List.of(SciShortLink.ID, SciCellLink.REGULAR, SciCellLink.DMA);

    private final String name;
    private final SciConfig config;
    private final ProcessContext context;
    private final SessionDirectory directory;
    private final Inbox inbox;
    private final SciProgress progress;
    private final SciPeers peers;
    private final SciRemoteMemory remoteMemory;
    private final SharedBlocks blocks;
    private final SingleCopy singleCopy;
    private final long proof;

    private final ReentrantLock lock = new ReentrantLock();
    private final List<SciChannel> channels = new CopyOnWriteArrayList<>();
    private final ConnectionManager connections;

    /** Completions of connection requests, to be run after the lock is released. */
    private final Queue<Runnable> upcalls = new ConcurrentLinkedQueue<>();

    private final List<ConnectionAttempt> calls = new ArrayList<>();
    private final List<SciConnection> graves = new ArrayList<>();
    private final BitSet slots = new BitSet();
    private volatile boolean pending;
    private boolean peerGone;
    private final Reservations reservations = new Reservations();
    private boolean closed;

    private SciAdapter(
            String name, SciConfig config, ProcessContext context, SessionDirectory directory, int idleLooks) {
        this.name = name;
        this.config = config;
        this.context = context;
        this.directory = directory;
        this.connections = new ConnectionManager(SciPmm.NAME, context, LIMITS, upcalls::add);
        this.proof = Digests.proof(context.sessionId(), context.secret());
        this.inbox = createInbox();
        this.blocks = new SharedBlocks(directory, context.memory(), config.sharesFromBytes());
        this.singleCopy = openSingleCopy();
        this.progress = new SciProgress(inbox, context.reactor(), this, idleLooks);
        this.peers = openPeers();
        this.remoteMemory = new SciRemoteMemory(context, directory, blocks, peers::end);
        slots.set(InboxLayout.CONTROL_SLOT);
    }

    static SciAdapter open(String name, SciConfig config, ProcessContext context) {
        return open(name, config, context, SciProgress.IDLE_LOOKS);
    }

    static SciAdapter open(String name, SciConfig config, ProcessContext context, int idleLooks) {
        SessionDirectory directory =
                SessionDirectory.join(config.memoryDirectory(), context.sessionId(), context.self());
        try {
            return new SciAdapter(name, config, context, directory, idleLooks);
        } catch (MadeleineException e) {
            directory.close();
            throw e;
        }
    }

    private Inbox createInbox() {
        try {
            return Inbox.create(directory.file(SessionDirectory.INBOX));
        } catch (IOException e) {
            throw new SessionException(
                    "cannot reserve " + InboxLayout.BYTES + " bytes of shared memory in " + directory.path() + ": "
                            + e.getMessage() + "; " + directory.room(e, InboxLayout.BYTES)
                            + "; make room (with conf/many-processes.conf connections take less), or give another"
                            + " directory with " + SciConfig.ROOT + ".directory",
                    e);
        }
    }

    private SingleCopy openSingleCopy() {
        return config.wantsSingleCopy()
                ? SingleCopy.of(
                        config.singleCopy() == SciConfig.SingleCopyUse.ON,
                        config.dmaToBytes(),
                        config.dmaOffloadFromBytes(),
                        directory,
                        blocks,
                        context.logger())
                : SingleCopy.none(directory, blocks, context.logger());
    }

    private SciPeers openPeers() {
        try {
            return new SciPeers(directory, context, proof, progress, this::peerGone);
        } catch (MadeleineException e) {
            blocks.close();
            singleCopy.close();
            inbox.close();
            throw e;
        }
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public String address() {
        return peers.address().toString();
    }

    @Override
    public Optional<String> unreachable(String peerAddress) {
        return peers.unreachable(peerAddress);
    }

    @Override
    public ProtocolChannel openChannel(String channelName) {
        SciChannel channel = new SciChannel(this, channelName, Digests.hash(channelName));
        channels.add(channel);
        return channel;
    }

    @Override
    public Optional<MemorySource> memorySource() {
        return Optional.of(blocks);
    }

    @Override
    public ProgressSource progress() {
        return progress;
    }

    @Override
    public Optional<RemoteMemory> remoteMemory() {
        return Optional.of(remoteMemory);
    }

    SciConfig config() {
        return config;
    }

    SessionDirectory directory() {
        return directory;
    }

    SingleCopy singleCopy() {
        return singleCopy;
    }

    ConnectionManager connections() {
        return connections;
    }

    SciPeers peers() {
        return peers;
    }

    ProcessIdentity self() {
        return context.self();
    }

    // ---- connecting

    CompletableFuture<ProtocolConnection> connect(SciChannel channel, ConnectionRequest request) {
        lock.lock();
        try {
            ConnectionAttempt reserved = reservations.take(channel, request.peer());
            ConnectionAttempt call = reserved == null ? prepare(channel, request) : reserved;
            reservations.sayIfScarce();
            calls.add(call);
            pending = true;
            return call.begin(connections);
        } catch (MadeleineException e) {
            return CompletableFuture.failedFuture(e);
        } finally {
            lock.unlock();
        }
    }

    /**
     * As {@link ProtocolChannel#reserve} says. Reports a lack of room only; {@link #connect} meets and reports any
     * other error.
     */
    Optional<String> reserve(SciChannel channel, ConnectionRequest request) {
        lock.lock();
        try {
            reservations.put(prepare(channel, request));
            return Optional.empty();
        } catch (NoRoomException e) {
            reservations.setRefused();
            return Optional.of(String.valueOf(e.getMessage()));
        } catch (MadeleineException _) {
            return Optional.empty();
        } finally {
            lock.unlock();
        }
    }

    private ConnectionAttempt prepare(SciChannel channel, ConnectionRequest request) {
        if (closed) {
            throw new SessionException("the adapter " + name + " of sci is closed; its session is closing");
        }
        checkModules(request.modules());
        SciPeer peer = peers.find(request);
        int slot = slots.nextClearBit(0);
        if (slot >= InboxLayout.SLOTS) {
            throw new NoRoomException("sci serves at most " + (InboxLayout.SLOTS - 1)
                    + " connections in a process, and all are in use; use fewer channels, or tcp for some of them");
        }
        ConnectionAttempt call =
                new ConnectionAttempt(this, channel, connections.prepare(channel.name(), request), peer, slot);
        slots.set(slot);
        return call;
    }

    private static void checkModules(List<TransmissionCapabilities> modules) {
        for (TransmissionCapabilities module : modules) {
            if (!MODULES.contains(module.id())) {
                throw new SessionException(
                        "sci has no transmission module " + module.id() + "; it has " + String.join(", ", MODULES));
            }
            if (module.bufferBytes() > PairSizes.MAX_BUFFER_BYTES) {
                throw new SessionException(
                        module.id() + ": the two processes agreed on buffers of " + module.bufferBytes()
                                + " bytes, expected at most " + PairSizes.MAX_BUFFER_BYTES + "; see " + SciConfig.ROOT
                                + ".short.buffer");
            }
        }
    }

    /** Notes that a connection gets less memory than configured; the adapter warns about this once. Under the lock. */
    void noteThatMemoryIsScarce(PairSizes configured, PairSizes fitting) {
        reservations.setScarce(() -> context.logger()
                .log(
                        Level.WARNING,
                        "sci: shared memory is scarce in {0} ({1}): a connection gets {2} in place of {3}, which is"
                                + " slower; others may get less, too. Make room, give another directory with"
                                + " {4}.directory, or smaller sizes with {4}.short.ring, {4}.regular.cell and"
                                + " {4}.regular.cells, as conf/many-processes.conf does",
                        directory.path(),
                        directory.room(),
                        fitting,
                        configured,
                        SciConfig.ROOT));
    }

    /** Makes the connection of a segment, when both sides want it. Under the lock. */
    SciConnection connected(ConnectionAttempt call, PairSegment segment) {
        SciConnection connection = new SciConnection(
                segment, call.peer, call.request.modules(), singleCopy, progress, this::bury, freed -> {
                    call.peer.connections().remove(freed);
                    call.channel.remove(freed);
                });
        call.peer.connections().add(connection);
        call.channel.add(connection);
        progress.put(connection);
        return connection;
    }

    void close(SciChannel channel) {
        channels.remove(channel);
        lock.lock();
        try {
            for (ConnectionAttempt reserved : reservations.takeAll(channel)) {
                reserved.undo("");
                slots.clear(reserved.slot);
            }
        } finally {
            lock.unlock();
        }
        endCalls(call -> {
            if (call.channel == channel) {
                call.cancel("its channel was closed");
            }
            return call.isOver();
        });
    }

    /** Removes the calls that are over and runs the completions of their requests; returns how many were over. */
    private int endCalls(Predicate<ConnectionAttempt> isOver) {
        int ended = 0;
        lock.lock();
        try {
            boolean failed = false;
            for (ConnectionAttempt call : List.copyOf(calls)) {
                if (isOver.test(call)) {
                    calls.remove(call);
                    ended++;
                    if (!call.isMade()) {
                        slots.clear(call.slot);
                        failed = true;
                    }
                }
            }
            if (failed) {
                forgetGone();
            }
            pending = !calls.isEmpty() || !graves.isEmpty() || peerGone;
        } finally {
            lock.unlock();
        }
        for (Runnable next = upcalls.poll(); next != null; next = upcalls.poll()) {
            next.run();
        }
        return ended;
    }

    /** Notes that a process has ended; the next step forgets it if nothing uses it. */
    private void peerGone() {
        lock.lock();
        try {
            peerGone = true;
            pending = true;
        } finally {
            lock.unlock();
        }
    }

    private void forgetGone() {
        peers.forgetGone(peer -> reservations.uses(peer) || calls.stream().anyMatch(call -> call.peer == peer));
    }

    // ---- control work that the progress source drives

    @Override
    public boolean isPending() {
        return pending;
    }

    @Override
    public int step(long nowNs, boolean urgent) {
        lock.lock();
        try {
            for (SciConnection connection : graves) {
                free(connection);
            }
            if (!graves.isEmpty() || peerGone) {
                graves.clear();
                peerGone = false;
                forgetGone();
            }
            boolean _ = connections.poll(System.nanoTime());
        } finally {
            lock.unlock();
        }
        return endCalls(call -> call.step(nowNs, urgent));
    }

    @Override
    public boolean giveUpCutMemory() {
        boolean cut = peers.lookAtInboxes();
        return endCalls(call -> call.cancelIfCut() || call.isOver()) > 0 || cut;
    }

    private void bury(SciConnection connection) {
        lock.lock();
        try {
            graves.add(connection);
            pending = true;
        } finally {
            lock.unlock();
        }
    }

    private void free(SciConnection connection) {
        progress.forget(connection);
        slots.clear(connection.slot());
        connection.free();
    }

    @Override
    public void close() {
        lock.lock();
        try {
            if (closed) {
                return;
            }
            closed = true;
            connections.close();
        } finally {
            lock.unlock();
        }
        channels.forEach(SciChannel::close);
        int _ = step(System.nanoTime(), true);
        peers.close();
        inbox.close();
        remoteMemory.close();
        blocks.close();
        singleCopy.close();
        directory.close();
    }
}
